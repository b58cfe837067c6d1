import { useState } from 'react';
import { useSpeech, useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { Empty } from '../../parts/Empty.tsx';
import { ListTable } from '../../parts/ListTable.tsx';
import { addressOf, Link } from '../../shell/router.tsx';
import { JobList } from '../workbooks/JobList.tsx';
import { useSources, useTables } from './asks.ts';
import { WorkbookMenu } from './WorkbookMenu.tsx';
import { workbookWords } from './words.ts';

/** What the workbook holds. */
export function OverviewPage({ workbookId, title }: { workbookId: string; title: string }) {
  return (
    <div className="page">
      <TableList workbookId={workbookId} />
      <SourceList workbookId={workbookId} />
      <JobList workbookId={workbookId} />
      <WorkbookMenu workbookId={workbookId} title={title} />
    </div>
  );
}

function TableList({ workbookId }: { workbookId: string }) {
  const t = useWords(workbookWords);
  const { formatNumber, formatTime } = useSpeech();
  const [hasArchived, setArchived] = useState(false);
  const tables = useTables(workbookId, hasArchived ? 'all' : 'active');
  return (
    <section>
      <div className="row">
        <h2>{t.tables}</h2>
        <label className="row tight dim">
          <input type="checkbox" checked={hasArchived} onChange={(event) => setArchived(event.target.checked)} />
          {t.showArchived}
        </label>
      </div>
      <Answer of={tables}>
        {({ tables }) =>
          tables.length === 0 ? (
            <Empty title={t.empty}>{t.emptyHint}</Empty>
          ) : (
            <ListTable heads={[t.tableName, t.rowsColumns, t.columns, t.changed]} numbers={[t.rowsColumns]}>
              {tables.map((table) => (
                <tr key={table.id}>
                  <td>
                    <Link to={addressOf('workbooks', workbookId, 'tables', table.name)}>{table.name}</Link>{' '}
                    {table.freshness.stale && <span className="mark warning">{t.stale}</span>}{' '}
                    {table.state === 'archived' && <span className="mark">{t.archived}</span>}
                  </td>
                  <td className="number">{formatNumber(table.row_count)}</td>
                  <td className="dim">{table.schema.map(({ name }) => name).join(', ')}</td>
                  <td>{formatTime(table.updated_at)}</td>
                </tr>
              ))}
            </ListTable>
          )
        }
      </Answer>
    </section>
  );
}

function SourceList({ workbookId }: { workbookId: string }) {
  const t = useWords(workbookWords);
  const { formatBytes, formatTime } = useSpeech();
  const sources = useSources(workbookId);
  return (
    <Answer of={sources}>
      {({ sources }) =>
        sources.length === 0 ? null : (
          <section>
            <h2>{t.files}</h2>
            <ListTable heads={[t.tableName, t.status, t.tables, t.size, t.changed]} numbers={[t.size]}>
              {sources.map((source) => (
                <tr key={source.id}>
                  <td>
                    <Link to={addressOf('workbooks', workbookId, 'sources', source.name)}>{source.name}</Link>
                  </td>
                  <td>{source.structuring ? (t.structuring[source.structuring] ?? source.structuring) : source.status}</td>
                  <td className="dim">{source.artifacts.join(', ')}</td>
                  <td className="number">{formatBytes(source.size)}</td>
                  <td>{formatTime(source.created_at)}</td>
                </tr>
              ))}
            </ListTable>
          </section>
        )
      }
    </Answer>
  );
}
