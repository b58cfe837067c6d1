import type { Rectangle } from '@glideapps/glide-data-grid';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { api, ask } from '../../api/client.ts';
import { useWords } from '../../i18n/language.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { usePlace } from '../../shell/router.tsx';
import { columnTypes } from './columnTypes.ts';
import type { RowStore } from './rowStore.ts';
import type { Editing } from './useEditing.ts';
import { tableWords } from './words.ts';

interface ColumnMenuProps {
  column: string;
  bounds: Rectangle;
  store: RowStore;
  editing: Editing;
  isEditable: boolean;
  onClose: () => void;
}

const menuPixels = 300;

const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** Conditions as SQL. A text is compared as the type of its column. */
const conditions = {
  contains: (text: string) => `::VARCHAR ILIKE ${quote(`%${text.replace(/[\\%_]/g, '\\$&')}%`)} ESCAPE '\\'`,
  equals: (text: string) => `= ${quote(text)}`,
  least: (text: string) => `>= ${quote(text)}`,
  most: (text: string) => `<= ${quote(text)}`,
};

/** What can be done with a column. */
export function ColumnMenu({ column, bounds, store, editing, isEditable, onClose }: ColumnMenuProps) {
  const t = useWords(tableWords);
  const { query, setQuery, path } = usePlace();
  const { fail, say } = useNotices();
  const box = useRef<HTMLDivElement>(null);
  const [isRenaming, setRenaming] = useState(false);
  const [workbookId = '', name = ''] = [path[1], path[3]];
  useEffect(() => {
    box.current?.querySelector('button')?.focus();
    const close = (event: Event) => {
      if (!box.current?.contains(event.target as Node)) onClose();
    };
    addEventListener('pointerdown', close);
    return () => removeEventListener('pointerdown', close);
  }, [onClose]);

  const show = (change: Record<string, string | null>) => {
    setQuery(change);
    onClose();
  };
  const alter = async (change: { new_name: string } | { type: string }) => {
    onClose();
    try {
      const { broken } = await ask(
        api.PATCH('/api/v1/workbooks/{workbook_id}/tables/{name}/columns/{column}', {
          params: { path: { workbook_id: workbookId, name, column } },
          body: { expected_version: store.version, ...change },
        }),
      );
      if (broken.length > 0) say(t.broken(broken.join(', ')));
      if ('new_name' in change) setQuery({ sort: null, filter: null });
    } catch (error) {
      fail(error);
    }
    editing.reload();
  };
  const drop = async () => {
    onClose();
    if (!confirm(t.dropSure(column))) return;
    try {
      await ask(
        api.DELETE('/api/v1/workbooks/{workbook_id}/tables/{name}/columns/{column}', {
          params: { path: { workbook_id: workbookId, name, column }, query: { expected_version: String(store.version) } },
        }),
      );
      setQuery({ sort: null, filter: null });
    } catch (error) {
      fail(error);
    }
    editing.reload();
  };
  const rename = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void alter({ new_name: String(new FormData(event.currentTarget).get('name')).trim() });
  };
  const retype = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    void alter({ type: String(new FormData(event.currentTarget).get('type')) });
  };
  /** What is filtered by already stays. */
  const narrowTo = (condition: string) => {
    const given = query.get('filter');
    const own = `"${column.replaceAll('"', '""')}" ${condition}`;
    show({ filter: given ? `(${given}) AND ${own}` : own });
  };
  const narrow = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    narrowTo(conditions[fields.get('by') as keyof typeof conditions](String(fields.get('value'))));
  };
  const type = store.columns.find((each) => each.name === column)?.type;
  return (
    <div
      ref={box}
      className="menu"
      role="dialog"
      aria-label={column}
      style={{ left: Math.max(8, Math.min(bounds.x, innerWidth - menuPixels - 8)), top: bounds.y + bounds.height, width: menuPixels }}
      onKeyDown={(event) => event.key === 'Escape' && onClose()}
    >
      <strong>{column}</strong> <small className="dim">{type}</small>
      {store.masked.has(column) && <small className="dim">{t.masked}</small>}
      <button type="button" onClick={() => show({ sort: `${column}:asc` })}>
        {t.sortUp}
      </button>
      <button type="button" onClick={() => show({ sort: `${column}:desc` })}>
        {t.sortDown}
      </button>
      <button type="button" onClick={() => show({ sort: null })}>
        {t.noSort}
      </button>
      <form className="row tight" onSubmit={narrow}>
        <select name="by" aria-label={t.filterBy} defaultValue="contains">
          {Object.keys(conditions).map((by) => (
            <option key={by} value={by}>
              {t.conditions[by]}
            </option>
          ))}
        </select>
        <input name="value" aria-label={t.filterValue} required size={8} />
        <button type="submit">{t.filter}</button>
      </form>
      <button type="button" onClick={() => narrowTo('IS NULL')}>
        {t.filterNull}
      </button>
      {isEditable && !store.masked.has(column) && (
        <>
          {isRenaming ? (
            <form className="row tight" onSubmit={rename}>
              <input name="name" aria-label={t.rename} defaultValue={column} required />
              <button type="submit">{t.rename}</button>
            </form>
          ) : (
            <button type="button" onClick={() => setRenaming(true)}>
              {t.rename}
            </button>
          )}
          <form className="row tight" onSubmit={retype}>
            <select name="type" aria-label={t.columnType} defaultValue={type}>
              {[...new Set([...(type ? [type] : []), ...columnTypes])].map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
            <button type="submit">{t.retype}</button>
          </form>
          <button type="button" className="bad" onClick={() => void drop()}>
            {t.drop}
          </button>
        </>
      )}
    </div>
  );
}
