import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { isProblem, Problem } from '../../api/problem.ts';
import { useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { useSession } from '../../session/session.tsx';
import { usePlace } from '../../shell/router.tsx';
import { askTable } from '../workbook/asks.ts';
import { ConflictDialog } from './ConflictDialog.tsx';
import { EditBar } from './EditBar.tsx';
import { Freshness } from './Freshness.tsx';
import { Panels } from './panels/Panels.tsx';
import { type ChosenCell, RowStore } from './rowStore.ts';
import { TableToolbar } from './TableToolbar.tsx';
import { useEditing } from './useEditing.ts';
import { tableWords } from './words.ts';
import './table.css';

const TableGrid = lazy(() => import('./TableGrid.tsx'));

/** How often to look whether somebody else has changed the table. */
const lookAgainMs = 4_000;

const isLoggedOut = (error: unknown) => error instanceof Problem && error.status === 401;

export default function TablePage({ workbookId, name }: { workbookId: string; name: string }) {
  const t = useWords(tableWords);
  const { query, setQuery } = usePlace();
  const table = useQuery({
    ...askTable(workbookId, name),
    refetchInterval: ({ state }) => (isProblem(state.error, 'not-found') ? false : lookAgainMs),
  });
  const [filter, sort, at] = ['filter', 'sort', 'at'].map((key) => query.get(key) ?? '') as [string, string, string];
  const store = useMemo(() => new RowStore(workbookId, name, { filter, sort, at }), [workbookId, name, filter, sort, at]);
  useEffect(() => () => store.close(), [store]);
  useSyncExternalStore(store.subscribe, store.snapshot);
  // While another order or filter is read, the rows before it stay, and with them the place of the keyboard.
  const lastLoaded = useRef<RowStore | null>(null);
  if (store.isLoaded) lastLoaded.current = store;
  const shown = lastLoaded.current;
  const editing = useEditing(workbookId, name, store);
  const { queue } = editing;
  const [chosen, setChosen] = useState<ChosenCell | null>(null);
  const [picked, setPicked] = useState<number[]>([]);

  useEffect(() => store.show(0, 0), [store]);
  const version = table.data?.edit_version;
  useEffect(() => {
    // Ours are applied here already.
    if (version !== undefined && store.version !== null && version > store.version && at === '') store.refresh();
  }, [version, store, at]);

  const isLoggedIn = useSession().state.kind === 'in';
  useEffect(() => {
    // What failed because the session had ended is tried again after the log-in.
    if (!isLoggedIn) return;
    if (isLoggedOut(store.error)) store.refresh();
    if (isLoggedOut(queue.error)) queue.retry();
  }, [isLoggedIn, store, queue]);

  const isGone = isProblem(table.error, 'not-found');
  const isEditable = at === '' && table.data?.layer !== 'view' && !isGone;
  return (
    <div className="table-page">
      <div className="table-main">
        <Answer of={table}>
          {(data) => (
            <>
              <TableToolbar workbookId={workbookId} table={data} store={store} editing={editing} picked={picked} isEditable={isEditable} />
              <Freshness workbookId={workbookId} table={data} />
            </>
          )}
        </Answer>
        {isGone && (
          <div className="problem" role="alert">
            <strong>{t.gone}</strong>
            <p className="fix">{t.goneFix}</p>
          </div>
        )}
        {at !== '' && (
          <div className="note row">
            {t.past(at)}
            <button type="button" onClick={() => setQuery({ at: null })}>
              {t.now}
            </button>
          </div>
        )}
        <EditBar editing={editing} store={store} />
        {shown && (
          <Suspense fallback={null}>
            <TableGrid
              workbookId={workbookId}
              name={name}
              store={shown}
              editing={editing}
              isEditable={isEditable && shown === store}
              chosen={chosen}
              onChoose={setChosen}
              onPick={setPicked}
            />
          </Suspense>
        )}
      </div>
      {table.data && <Panels workbookId={workbookId} table={table.data} chosen={chosen} store={store} editing={editing} />}
      {queue.conflict && <ConflictDialog workbookId={workbookId} name={name} editing={editing} store={store} />}
    </div>
  );
}
