import { useQuery } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { api, ask } from '../../../api/client.ts';
import { formatValue } from '../../../grid/format.ts';
import { useWords } from '../../../i18n/language.tsx';
import { Answer } from '../../../parts/Answer.tsx';
import { readField } from '../../../parts/FormDialog.tsx';
import { usePlace } from '../../../shell/router.tsx';
import { inWorkbook } from '../../workbook/asks.ts';
import { panelWords } from './words.ts';

interface DiffProps {
  workbookId: string;
  name: string;
  newest: number;
  labels: string[];
}

/** What differs between two versions, cell by cell. */
export function DiffView({ workbookId, name, newest, labels }: DiffProps) {
  const t = useWords(panelWords);
  const { query, setQuery } = usePlace();
  const [from, to] = [query.get('from'), query.get('to')];
  const compare = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    setQuery({ from: readField(fields, 'from'), to: readField(fields, 'to') });
  };
  return (
    <section>
      <h3>{t.compare}</h3>
      <form className="row tight" onSubmit={compare}>
        <input name="from" list="versions" aria-label={t.from} defaultValue={from ?? String(Math.max(1, newest - 1))} required size={8} />
        →
        <input name="to" list="versions" aria-label={t.to} defaultValue={to ?? String(newest)} required size={8} />
        <datalist id="versions">
          {labels.map((label) => (
            <option key={label} value={label} />
          ))}
        </datalist>
        <button type="submit">{t.compare}</button>
      </form>
      {from && to && <Diff workbookId={workbookId} name={name} from={from} to={to} />}
    </section>
  );
}

function Diff({ workbookId, name, from, to }: { workbookId: string; name: string; from: string; to: string }) {
  const t = useWords(panelWords);
  const diff = useQuery({
    queryKey: inWorkbook(workbookId, 'diff', name, from, to),
    queryFn: () =>
      ask(
        api.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/diff', {
          params: { path: { workbook_id: workbookId, name }, query: { from, to, limit: 100 } },
        }),
      ),
  });
  return (
    <Answer of={diff}>
      {({ inserted, updated, deleted, inserted_count: added, updated_count: changed, deleted_count: removed }) => (
        <>
          <p>{added + changed + removed === 0 ? t.same : t.diff(added, changed, removed)}</p>
          <ul className="plain-list">
            {updated.map(({ row_id: rowId, cells }) => (
              <li key={rowId}>
                {t.row} {rowId}
                {cells.map(({ column, old, new: value }) => (
                  <div key={column}>
                    {column}: <del>{formatValue(old)}</del> → <strong>{formatValue(value)}</strong>
                  </div>
                ))}
              </li>
            ))}
            {inserted.map((row) => (
              <RowLine key={`+${formatValue(row.__svc_row_id)}`} sign="+" row={row} />
            ))}
            {deleted.map((row) => (
              <RowLine key={`-${formatValue(row.__svc_row_id)}`} sign="−" row={row} />
            ))}
          </ul>
        </>
      )}
    </Answer>
  );
}

function RowLine({ sign, row }: { sign: string; row: Record<string, unknown> }) {
  const { __svc_row_id: id, ...cells } = row;
  return (
    <li className={sign === '+' ? 'good' : 'bad'}>
      {sign} {formatValue(id)}: {Object.values(cells).map(formatValue).join(' · ')}
    </li>
  );
}
