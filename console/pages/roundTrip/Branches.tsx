import { useQuery } from '@tanstack/react-query';
import { api, ask } from '../../api/client.ts';
import { useSpeech, useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { inWorkbook } from '../workbook/asks.ts';
import { roundTripWords } from './words.ts';

/** What was sent out and can come back. */
export function Branches({ workbookId }: { workbookId: string }) {
  const t = useWords(roundTripWords);
  const { formatTime, formatNumber } = useSpeech();
  const branches = useQuery({
    queryKey: inWorkbook(workbookId, 'branches'),
    queryFn: () =>
      ask(api.GET('/api/v1/workbooks/{workbook_id}/branches', { params: { path: { workbook_id: workbookId }, query: { limit: 100 } } })),
  });
  return (
    <Answer of={branches}>
      {({ branches }) =>
        branches.length === 0 ? null : (
          <section>
            <h2>{t.branches}</h2>
            <table className="list">
              <thead>
                <tr>
                  {[t.filename, t.table, t.rows, t.when, t.lastMerged].map((label) => (
                    <th key={label} scope="col">
                      {label}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {branches.map(({ id, table, filename, row_count: rows, created_at: at, last_merged_at: merged }) => (
                  <tr key={`${id} ${table}`}>
                    <td>{filename}</td>
                    <td>{table}</td>
                    <td>{formatNumber(rows)}</td>
                    <td>{formatTime(at)}</td>
                    <td>{merged ? formatTime(merged) : t.never}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        )
      }
    </Answer>
  );
}
