import { useQuery } from '@tanstack/react-query';
import { api, ask, type Schemas } from '../../api/client.ts';
import { formatValue } from '../../grid/format.ts';
import { useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { useChange } from '../../parts/useChange.ts';
import { addressOf, Link } from '../../shell/router.tsx';
import { inWorkbook } from '../workbook/asks.ts';
import { roundTripWords } from './words.ts';

type Action = Schemas['ResolveConflictRequest']['action'];

/** Cells that were changed on both sides, to be looked at one by one. Nothing waits for it. */
export function ConflictQueue({ workbookId }: { workbookId: string }) {
  const t = useWords(roundTripWords);
  const conflicts = useQuery({
    queryKey: inWorkbook(workbookId, 'conflicts'),
    queryFn: () =>
      ask(
        api.GET('/api/v1/workbooks/{workbook_id}/conflicts', {
          params: { path: { workbook_id: workbookId }, query: { status: 'open', limit: 200 } },
        }),
      ),
  });
  const change = useChange(inWorkbook(workbookId));
  const resolve = (id: string, action: Action) =>
    change(() =>
      ask(
        api.POST('/api/v1/workbooks/{workbook_id}/conflicts/{conflict_id}/resolve', {
          params: { path: { workbook_id: workbookId, conflict_id: id } },
          body: { action },
        }),
      ),
    );
  return (
    <section>
      <h2>{t.queue}</h2>
      <Answer of={conflicts}>
        {({ conflicts }) =>
          conflicts.length === 0 ? (
            <p className="dim">{t.empty}</p>
          ) : (
            <table className="list">
              <thead>
                <tr>
                  {[t.table, t.row, t.column, t.base, t.prior, t.current, ''].map((label) => (
                    <th key={label} scope="col">
                      {label || <span className="sr-only">{t.acknowledge}</span>}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {conflicts.map((conflict) => (
                  <ConflictRow key={conflict.id} workbookId={workbookId} conflict={conflict} onResolve={resolve} />
                ))}
              </tbody>
            </table>
          )
        }
      </Answer>
    </section>
  );
}

interface ConflictRowProps {
  workbookId: string;
  conflict: Schemas['CellConflict'];
  onResolve: (id: string, action: Action) => Promise<void>;
}

function ConflictRow({ workbookId, conflict, onResolve }: ConflictRowProps) {
  const t = useWords(roundTripWords);
  const { id, table, row_id: rowId, column, kind, base, prior, current } = conflict;
  const other: Action = kind === 'overwrite' ? 'revert' : 'drop_override';
  return (
    <tr>
      <td>
        <Link to={`${addressOf('workbooks', workbookId, 'tables', table)}?row=${rowId}&column=${encodeURIComponent(column)}&panel=cell`}>
          {table}
        </Link>{' '}
        <span className="mark">{t.kinds[kind]}</span>
      </td>
      <td>{rowId}</td>
      <td>{column === '__svc_row_id' ? t.wholeRow : column}</td>
      <td>{formatValue(base)}</td>
      <td>{formatValue(prior)}</td>
      <td>
        <strong>{formatValue(current)}</strong>
      </td>
      <td className="row tight">
        <button type="button" onClick={() => void onResolve(id, 'acknowledge')}>
          {t.acknowledge}
        </button>
        <button type="button" onClick={() => void onResolve(id, other)}>
          {t[other]}
        </button>
      </td>
    </tr>
  );
}
