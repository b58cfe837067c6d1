import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, ask, tell } from '../../api/client.ts';
import { useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { readField } from '../../parts/FormDialog.tsx';
import { ListTable } from '../../parts/ListTable.tsx';
import { useNotices } from '../../parts/notices.tsx';
import { useChange } from '../../parts/useChange.ts';
import { inWorkbook, useTables } from '../workbook/asks.ts';
import { governanceWords } from './words.ts';

/** What the columns hold, as tags. */
export function Tags({ workbookId }: { workbookId: string }) {
  const t = useWords(governanceWords);
  const tags = useQuery({
    queryKey: inWorkbook(workbookId, 'classifications'),
    queryFn: () =>
      ask(
        api.GET('/api/v1/workbooks/{workbook_id}/classifications', {
          params: { path: { workbook_id: workbookId }, query: { limit: 1000 } },
        }),
      ),
  });
  const { say } = useNotices();
  const change = useChange(inWorkbook(workbookId));
  const remove = (name: string, column: string, tag: string) =>
    void change(async () => {
      await tell(
        api.DELETE('/api/v1/workbooks/{workbook_id}/artifacts/{name}/columns/{column}/tags/{tag}', {
          params: { path: { workbook_id: workbookId, name, column, tag } },
        }),
      );
      const all = tags.data?.classifications ?? [];
      const heirs = all.filter((each) => each.tag === tag && each.inherited_from?.table === name && each.inherited_from.column === column);
      if (heirs.length > 0) say(t.kept(heirs.length, tag));
    });
  return (
    <section>
      <h2>{t.tags}</h2>
      <p className="dim">{t.tagsHint}</p>
      <TagForm workbookId={workbookId} />
      <Answer of={tags}>
        {({ classifications }) =>
          classifications.length === 0 ? (
            <p className="dim">{t.noTags}</p>
          ) : (
            <ListTable heads={[t.tag, t.table, t.column, t.inherited, t.remove]}>
              {classifications.map(({ table, column, tag, origin, inherited_from: from }) => (
                <tr key={`${table} ${column} ${tag}`}>
                  <td>
                    <span className="mark">{tag}</span>
                  </td>
                  <td>{table}</td>
                  <td>{column}</td>
                  <td className="dim">{origin === 'inherited' && `${from?.table ?? ''}.${from?.column ?? ''}`}</td>
                  <td>
                    <button type="button" className="plain" onClick={() => remove(table, column, tag)}>
                      {t.remove}
                    </button>
                  </td>
                </tr>
              ))}
            </ListTable>
          )
        }
      </Answer>
    </section>
  );
}

function TagForm({ workbookId }: { workbookId: string }) {
  const t = useWords(governanceWords);
  const { say } = useNotices();
  const { data } = useTables(workbookId);
  const [name, setName] = useState('');
  const tables = data?.tables ?? [];
  const columns = tables.find((table) => table.name === (name || tables[0]?.name))?.schema ?? [];
  const change = useChange(inWorkbook(workbookId));
  const add = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const path = { workbook_id: workbookId, name: readField(fields, 'table'), column: readField(fields, 'column') };
    void change(async () => {
      const { reached } = await ask(
        api.POST('/api/v1/workbooks/{workbook_id}/artifacts/{name}/columns/{column}/tags', {
          params: { path },
          body: { tag: readField(fields, 'tag') },
        }),
      );
      say(t.reached(reached.length + 1));
    });
  };
  return (
    <form className="row" onSubmit={add}>
      <select name="table" aria-label={t.table} value={name || tables[0]?.name} onChange={(event) => setName(event.target.value)}>
        {tables.map((table) => (
          <option key={table.id}>{table.name}</option>
        ))}
      </select>
      <select name="column" aria-label={t.column}>
        {columns.map((column) => (
          <option key={column.name}>{column.name}</option>
        ))}
      </select>
      <input name="tag" aria-label={t.tag} placeholder={t.tag} required maxLength={60} />
      <button type="submit">{t.addTag}</button>
    </form>
  );
}
