import { useState } from 'react';
import { useSpeech, useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { addressOf, Link } from '../../shell/router.tsx';
import { UploadButton } from '../workbooks/DropZone.tsx';
import { useSources, useTables } from './asks.ts';
import { CreateTableDialog } from './CreateTableDialog.tsx';
import { workbookWords } from './words.ts';

interface SideBarProps {
  workbookId: string;
  section: string | undefined;
  name: string | undefined;
}

/** The tables and files of the workbook. */
export function SideBar({ workbookId, section, name }: SideBarProps) {
  const t = useWords(workbookWords);
  const { formatNumber } = useSpeech();
  const tables = useTables(workbookId);
  const sources = useSources(workbookId);
  const [isCreating, setCreating] = useState(false);
  return (
    <aside className="side" aria-label={t.tables}>
      <div className="row tight">
        <UploadButton workbookId={workbookId} />
        <button type="button" onClick={() => setCreating(true)}>
          {t.newTable}
        </button>
      </div>
      <h2>{t.tables}</h2>
      <Answer of={tables}>
        {({ tables }) => (
          <ul className="plain-list">
            {tables.map((table) => (
              <li key={table.id}>
                <Link to={addressOf('workbooks', workbookId, 'tables', table.name)} current={section === 'tables' && name === table.name}>
                  <span>{table.name}</span>
                  <small className="dim">
                    {table.freshness.stale && <span className="stale">● </span>}
                    {formatNumber(table.row_count)}
                  </small>
                </Link>
              </li>
            ))}
          </ul>
        )}
      </Answer>
      <h2>{t.files}</h2>
      <Answer of={sources}>
        {({ sources }) => (
          <ul className="plain-list">
            {sources.map((source) => (
              <li key={source.id}>
                <Link
                  to={addressOf('workbooks', workbookId, 'sources', source.name)}
                  current={section === 'sources' && name === source.name}
                >
                  {source.name}
                </Link>
              </li>
            ))}
          </ul>
        )}
      </Answer>
      {isCreating && <CreateTableDialog workbookId={workbookId} onClose={() => setCreating(false)} />}
    </aside>
  );
}
