import { useQuery } from '@tanstack/react-query';
import { api, ask } from '../../api/client.ts';
import { formatValue } from '../../grid/format.ts';
import { useSpeech, useWords } from '../../i18n/language.tsx';
import { Dialog } from '../../parts/Dialog.tsx';
import { ListTable } from '../../parts/ListTable.tsx';
import { inWorkbook } from '../workbook/asks.ts';
import type { CellEdit } from './editQueue.ts';
import type { RowStore } from './rowStore.ts';
import type { Editing } from './useEditing.ts';
import { tableWords } from './words.ts';

interface ConflictProps {
  workbookId: string;
  name: string;
  editing: Editing;
  store: RowStore;
}

/** Somebody else was quicker: who, what, and which of both is to stand there. */
export function ConflictDialog({ workbookId, name, editing: { queue }, store }: ConflictProps) {
  const t = useWords(tableWords);
  const conflict = queue.conflict;
  if (!conflict) return null;
  const changed = conflict.problem.document.changed as { row_id: number; columns: string[] }[] | undefined;
  const hit = conflict.batch.edits.filter(
    ({ rowId, column }) =>
      changed?.some((row) => row.row_id === rowId && (row.columns.length === 0 || row.columns.includes(column))) ?? true,
  );
  const keepTheirs = () => {
    queue.dropFirst();
    store.refresh();
  };
  return (
    <Dialog title={t.conflict} onClose={keepTheirs} wide>
      <p>{t.conflictHint}</p>
      <ListTable heads={[t.row, t.column, t.was, t.theirs, t.who, t.mine]}>
        {hit.slice(0, 20).map((edit) => (
          <ConflictRow key={`${edit.rowId} ${edit.column}`} workbookId={workbookId} name={name} edit={edit} />
        ))}
      </ListTable>
      <div className="row">
        <button type="button" className="main" onClick={() => queue.sendAnyway()}>
          {t.keepMine}
        </button>
        <button type="button" onClick={keepTheirs}>
          {t.keepTheirs}
        </button>
      </div>
    </Dialog>
  );
}

function ConflictRow({ workbookId, name, edit }: { workbookId: string; name: string; edit: CellEdit }) {
  const { formatTime } = useSpeech();
  const { rowId, column, before, value } = edit;
  const { data } = useQuery({
    queryKey: inWorkbook(workbookId, 'history', name, rowId, 'conflict'),
    staleTime: 0,
    queryFn: () =>
      ask(
        api.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/rows/{row_id}/history', {
          params: { path: { workbook_id: workbookId, name, row_id: rowId }, query: { limit: 20 } },
        }),
      ),
  });
  const last = data?.changes.find(({ cells, kind }) => kind === 'delete' || cells.some((cell) => cell.column === column));
  const theirs = last?.cells.find((cell) => cell.column === column)?.new;
  return (
    <tr>
      <td>{rowId}</td>
      <td>{column}</td>
      <td>{formatValue(before)}</td>
      <td>{last?.kind === 'delete' ? '—' : formatValue(theirs)}</td>
      <td>
        {last?.actor} {last && <small className="dim">{formatTime(last.at)}</small>}
      </td>
      <td>
        <strong>{formatValue(value)}</strong>
      </td>
    </tr>
  );
}
