import { useQueryClient } from '@tanstack/react-query';
import { type DragEvent, useRef, useState } from 'react';
import { api, ask, type Schemas } from '../../api/client.ts';
import { makeForm } from '../../api/form.ts';
import { formatValue } from '../../grid/format.ts';
import { useSpeech, useWords } from '../../i18n/language.tsx';
import { ListTable } from '../../parts/ListTable.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { ProblemNote } from '../../parts/ProblemNote.tsx';
import { commonWords } from '../../parts/words.ts';
import { inWorkbook } from '../workbook/asks.ts';
import { roundTripWords } from './words.ts';

type Plan = Schemas['SyncResponse'];

const sync = (workbookId: string, file: File, dryRun: boolean) =>
  ask(
    api.POST('/api/v1/workbooks/{workbook_id}/sync', {
      params: { path: { workbook_id: workbookId }, query: { dry_run: dryRun } },
      ...makeForm({ file }),
    }),
  );

/** The file that came back: first what it would change, then the change. */
export function MergeStep({ workbookId }: { workbookId: string }) {
  const t = useWords(roundTripWords);
  const common = useWords(commonWords);
  const queries = useQueryClient();
  const { say } = useNotices();
  const input = useRef<HTMLInputElement>(null);
  const [file, setFile] = useState<File | null>(null);
  const [plan, setPlan] = useState<Plan | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);

  const run = async (work: () => Promise<void>) => {
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (caught) {
      setError(caught);
    }
    setBusy(false);
  };
  const look = (next: File | undefined) => {
    if (!next) return;
    setFile(next);
    setPlan(null);
    void run(async () => setPlan(await sync(workbookId, next, true)));
  };
  const forget = () => {
    setFile(null);
    setPlan(null);
    setError(null);
  };
  const merge = () =>
    run(async () => {
      const { tables } = await sync(workbookId, file as File, false);
      say(t.merged(tables.reduce((sum, { conflicts }) => sum + conflicts.length, 0)));
      forget();
      await queries.invalidateQueries({ queryKey: inWorkbook(workbookId) });
    });
  const drop = (event: DragEvent) => {
    event.preventDefault();
    look(event.dataTransfer.files[0]);
  };
  return (
    <section>
      <h2>{t.back}</h2>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same for the keyboard */}
      <div className="empty" data-drop="merge" onDragOver={(event) => event.preventDefault()} onDrop={drop}>
        <p>{file ? file.name : t.backHint}</p>
        <input
          ref={input}
          type="file"
          hidden
          aria-label={t.choose}
          onChange={(event) => {
            look(event.target.files?.[0]);
            event.target.value = '';
          }}
        />
        <button type="button" disabled={isBusy} onClick={() => input.current?.click()}>
          {isBusy ? common.loading : t.choose}
        </button>
      </div>
      {error !== null && <ProblemNote error={error} />}
      {plan && <PlanView plan={plan} isBusy={isBusy} onMerge={() => void merge()} onForget={forget} />}
    </section>
  );
}

function PlanView({ plan, isBusy, onMerge, onForget }: { plan: Plan; isBusy: boolean; onMerge: () => void; onForget: () => void }) {
  const t = useWords(roundTripWords);
  const { formatNumber } = useSpeech();
  const isEmpty = plan.tables.every(({ inserted, updated, deleted }) => inserted + updated + deleted === 0);
  return (
    <>
      <h3>{t.plan}</h3>
      <ListTable heads={[t.table, t.added, t.changed, t.deleted, t.same, t.conflicts]}>
        {plan.tables.map(({ name, inserted, updated, deleted, unchanged, planned_conflicts: planned = [] }) => (
          <tr key={name}>
            <td>{name}</td>
            {[inserted, updated, deleted, unchanged, planned.length].map((count, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the columns stand still
              <td key={i}>{formatNumber(count)}</td>
            ))}
          </tr>
        ))}
      </ListTable>
      {isEmpty && <p>{t.nothing}</p>}
      <div className="row">
        <button type="button" className="main" disabled={isBusy || isEmpty} onClick={onMerge}>
          {isBusy ? t.merging : t.merge}
        </button>
        <button type="button" onClick={onForget}>
          {t.forget}
        </button>
      </div>
      {plan.tables.map((table) => (
        <PlannedCells key={table.name} table={table} />
      ))}
    </>
  );
}

type Planned = Plan['tables'][number];

/** Cell by cell what would change; those that were changed on both sides are marked, with what would be replaced. */
function PlannedCells({ table }: { table: Planned }) {
  const t = useWords(roundTripWords);
  const { formatNumber } = useSpeech();
  const { name, planned_changes: changes = [], planned_conflicts: conflicts = [], inserted, updated, deleted } = table;
  const clashes = new Map(conflicts.map((conflict) => [`${conflict.row_id} ${conflict.column}`, conflict]));
  const left = inserted + updated + deleted - changes.length;
  if (changes.length === 0) return null;
  return (
    <>
      <h3>{name}</h3>
      <ListTable heads={[t.row, t.column, t.base, t.here, t.inFile]}>
        {changes.flatMap(({ row_id: rowId, kind, cells }, i) => {
          const whole = clashes.get(`${rowId} __svc_row_id`);
          return cells.map(({ column, old, new: value }, at) => {
            const clash = clashes.get(`${rowId} ${column}`);
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: new rows have nothing else to be known by
              <tr key={`${i} ${column}`}>
                <td>
                  {at === 0 && (
                    <>
                      {rowId ?? ''} <span className={`mark ${marks[kind]}`}>{t.rowKinds[kind]}</span>{' '}
                      {whole && <span className="mark warning">{t.kinds.overwrite}</span>}
                    </>
                  )}
                </td>
                <td>
                  {column} {clash && <span className="mark warning">{t.kinds.overwrite}</span>}
                </td>
                <td>{formatValue(clash ? clash.base : old)}</td>
                <td>{formatValue(old)}</td>
                <td>{kind === 'delete' ? '—' : <strong>{formatValue(value)}</strong>}</td>
              </tr>
            );
          });
        })}
      </ListTable>
      {left > 0 && <p className="dim">{t.moreRows(formatNumber(left))}</p>}
    </>
  );
}

const marks = { insert: 'succeeded', update: '', delete: 'failed' };
