import { useQuery } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { api, ask, type Schemas } from '../../api/client.ts';
import { formatValue } from '../../grid/format.ts';
import { useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { readField, splitNames } from '../../parts/FormDialog.tsx';
import { ListTable } from '../../parts/ListTable.tsx';
import { usePlace } from '../../shell/router.tsx';
import { inWorkbook, useTables } from '../workbook/asks.ts';
import { governanceWords } from './words.ts';

/** What somebody with certain roles would see of a table. */
export function SeeAs({ workbookId }: { workbookId: string }) {
  const t = useWords(governanceWords);
  const { query, setQuery } = usePlace();
  const { data } = useTables(workbookId);
  const [name, roles] = [query.get('as-table'), query.get('as-roles')];
  const see = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    setQuery({ 'as-table': readField(fields, 'table'), 'as-roles': readField(fields, 'roles') });
  };
  return (
    <section>
      <h2>{t.seeAs}</h2>
      <form className="row" onSubmit={see}>
        <select name="table" aria-label={t.table} defaultValue={name ?? undefined} key={data ? 'tables' : 'none'}>
          {data?.tables.map((table) => (
            <option key={table.id}>{table.name}</option>
          ))}
        </select>
        <input name="roles" aria-label={t.rolesHint} placeholder={t.rolesHint} defaultValue={roles ?? ''} size={28} />
        <button type="submit">{t.see}</button>
      </form>
      {name && <Access workbookId={workbookId} name={name} roles={splitNames(roles ?? '')} />}
    </section>
  );
}

function Access({ workbookId, name, roles }: { workbookId: string; name: string; roles: string[] }) {
  const t = useWords(governanceWords);
  const access = useQuery({
    queryKey: inWorkbook(workbookId, 'access', name, roles),
    queryFn: () =>
      ask(
        api.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/access', {
          params: { path: { workbook_id: workbookId, name }, query: roles.length > 0 ? { role: roles } : {} },
        }),
      ),
  });
  return (
    <Answer of={access}>
      {({ columns }) => (
        <>
          <ListTable heads={[t.column, t.effect, t.tag, t.because]}>
            {columns.map(({ column, effect, tags, rule }) => (
              <tr key={column}>
                <td>{column}</td>
                <td>
                  <span className={`mark ${effect === 'visible' ? 'succeeded' : effect === 'deny' ? 'failed' : 'warning'}`}>
                    {t.seen[effect]}
                  </span>
                </td>
                <td>{tags.join(', ')}</td>
                <td className="dim">{rule && `${rule.tag} × ${rule.role}: ${t.effects[rule.effect]}`}</td>
              </tr>
            ))}
          </ListTable>
          <SeenRows workbookId={workbookId} name={name} columns={columns} />
        </>
      )}
    </Answer>
  );
}

const shownRows = 5;

/** The first rows as they would be seen. What the person here may not see is not shown either. */
function SeenRows({ workbookId, name, columns }: { workbookId: string; name: string; columns: Schemas['ColumnAccess'][] }) {
  const t = useWords(governanceWords);
  const rows = useQuery({
    queryKey: inWorkbook(workbookId, 'seen-rows', name),
    queryFn: async () => {
      const params = { path: { workbook_id: workbookId, name }, query: { limit: shownRows } };
      return (await ask(api.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/rows', { params }))) as Schemas['RowsPage'];
    },
  });
  const seen = columns.filter(({ effect }) => effect !== 'deny');
  return (
    <Answer of={rows}>
      {({ rows }) => (
        <>
          <h3>{t.seenRows}</h3>
          <ListTable heads={seen.map(({ column }) => column)}>
            {rows.map((row) => (
              <tr key={formatValue(row.__svc_row_id)}>
                {seen.map(({ column, effect }) => (
                  <td key={column}>{effect === 'mask' ? <span className="dim">•••</span> : formatValue(row[column])}</td>
                ))}
              </tr>
            ))}
          </ListTable>
        </>
      )}
    </Answer>
  );
}
