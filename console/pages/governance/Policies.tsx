import { useQuery } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { api, ask, type Schemas, tell } from '../../api/client.ts';
import { useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { readField } from '../../parts/FormDialog.tsx';
import { ListTable } from '../../parts/ListTable.tsx';
import { useChange } from '../../parts/useChange.ts';
import { inWorkbook } from '../workbook/asks.ts';
import { governanceWords } from './words.ts';

/** What roles see of tagged columns. */
export function Policies({ workbookId }: { workbookId: string }) {
  const t = useWords(governanceWords);
  const policies = useQuery({
    queryKey: inWorkbook(workbookId, 'policies'),
    queryFn: () =>
      ask(api.GET('/api/v1/workbooks/{workbook_id}/policies', { params: { path: { workbook_id: workbookId }, query: { limit: 1000 } } })),
  });
  const change = useChange(inWorkbook(workbookId));
  const set = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    void change(() =>
      ask(
        api.PUT('/api/v1/workbooks/{workbook_id}/policies/{tag}', {
          params: { path: { workbook_id: workbookId, tag: readField(fields, 'tag') } },
          body: { role: readField(fields, 'role'), effect: fields.get('effect') as Schemas['Effect'] },
        }),
      ),
    );
  };
  const remove = (tag: string, role: string) =>
    void change(() =>
      tell(
        api.DELETE('/api/v1/workbooks/{workbook_id}/policies/{tag}', {
          params: { path: { workbook_id: workbookId, tag }, query: { role } },
        }),
      ),
    );
  return (
    <section>
      <h2>{t.policies}</h2>
      <p className="dim">{t.policiesHint}</p>
      <form className="row" onSubmit={set}>
        <input name="tag" aria-label={t.tag} placeholder={t.tag} required maxLength={60} />
        <input name="role" aria-label={t.role} placeholder={t.role} defaultValue="*" required maxLength={60} />
        <select name="effect" aria-label={t.effect}>
          {(['mask', 'deny', 'allow'] as const).map((effect) => (
            <option key={effect} value={effect}>
              {t.effects[effect]}
            </option>
          ))}
        </select>
        <button type="submit">{t.set}</button>
      </form>
      <Answer of={policies}>
        {({ policies }) =>
          policies.length === 0 ? (
            <p className="dim">{t.noPolicies}</p>
          ) : (
            <ListTable heads={[t.tag, t.role, t.effect, t.remove]}>
              {policies.map(({ tag, role, effect }) => (
                <tr key={`${tag} ${role}`}>
                  <td>
                    <span className="mark">{tag}</span>
                  </td>
                  <td>{role}</td>
                  <td>{t.effects[effect]}</td>
                  <td>
                    <button type="button" className="plain" onClick={() => remove(tag, role)}>
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
