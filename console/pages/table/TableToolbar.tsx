import { type FormEvent, useEffect, useState } from 'react';
import { download, type Schemas } from '../../api/client.ts';
import { useSpeech, useWords } from '../../i18n/language.tsx';
import { ExportChoice } from '../../parts/ExportChoice.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { commonWords } from '../../parts/words.ts';
import { addressOf, usePlace } from '../../shell/router.tsx';
import { AddColumnDialog } from './AddColumnDialog.tsx';
import type { RowStore } from './rowStore.ts';
import type { Editing } from './useEditing.ts';
import { tableWords } from './words.ts';

interface ToolbarProps {
  workbookId: string;
  table: Schemas['Table'];
  store: RowStore;
  editing: Editing;
  /** Ids of the rows that are selected as a whole. */
  picked: number[];
  isEditable: boolean;
}

export function TableToolbar({ workbookId, table, store, editing, picked, isEditable }: ToolbarProps) {
  const t = useWords(tableWords);
  const common = useWords(commonWords);
  const { formatNumber } = useSpeech();
  const { fail } = useNotices();
  const [isAdding, setAdding] = useState(false);
  const { queue } = editing;
  const canChange = isEditable && table.layer === 'base';
  const exportAs = (format: string) => {
    const book = `/api/v1${addressOf('workbooks', workbookId)}`;
    const asked =
      format === 'xlsx'
        ? download(`${book}/export`, `${table.name}.xlsx`, {
            method: 'POST',
            headers: { 'Content-Type': 'application/json' },
            body: JSON.stringify({ tables: [table.name], format } satisfies Schemas['ExportRequest']),
          })
        : download(`${book}${addressOf('tables', table.name)}/data?format=${format}`, `${table.name}.${format}`);
    void asked.catch(fail);
  };
  return (
    <div className="toolbar row">
      <h2>{table.name}</h2>
      <span className="dim">
        {common.rows(formatNumber(store.rowCount))} · {t.version(store.version ?? table.edit_version)}
      </span>
      <span className="dim" role="status">
        {queue.state === 'saving' ? t.saving : queue.state === 'saved' ? t.saved : ''}
      </span>
      {editing.undo && isEditable && (
        <button type="button" className="plain" title="Ctrl+Z" onClick={() => void editing.undo?.()}>
          {t.undo}
        </button>
      )}
      <FilterBox />
      {isEditable && (
        <button type="button" onClick={() => queue.add(store.version ?? table.edit_version, [], [{}])}>
          {t.addRow}
        </button>
      )}
      {canChange && (
        <button type="button" onClick={() => setAdding(true)}>
          {t.addColumn}
        </button>
      )}
      {canChange && picked.length > 0 && (
        <button type="button" className="danger" onClick={() => void editing.deleteRows(picked)}>
          {t.deleteRows(picked.length)}
        </button>
      )}
      <ExportChoice onExport={exportAs} more={['xlsx']} />
      {isAdding && (
        <AddColumnDialog workbookId={workbookId} store={store} name={table.name} editing={editing} onClose={() => setAdding(false)} />
      )}
    </div>
  );
}

function FilterBox() {
  const t = useWords(tableWords);
  const { query, setQuery } = usePlace();
  const given = query.get('filter') ?? '';
  const [text, setText] = useState(given);
  useEffect(() => setText(given), [given]);
  const apply = (event: FormEvent) => {
    event.preventDefault();
    setQuery({ filter: text });
  };
  return (
    <form className="row tight filter" onSubmit={apply}>
      <input
        type="search"
        aria-label={t.filter}
        title={t.filterHint}
        placeholder={t.filterShort}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit">{t.filter}</button>
      {(given !== '' || query.has('sort')) && (
        <button type="button" className="plain" onClick={() => setQuery({ filter: null, sort: null })}>
          {t.clear}
        </button>
      )}
    </form>
  );
}
