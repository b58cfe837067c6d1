import { useQuery } from '@tanstack/react-query';
import type { ChangeEvent, FormEvent } from 'react';
import { api, ask, type Schemas, tell } from '../../api/client.ts';
import { useWords } from '../../i18n/language.tsx';
import { Answer } from '../../parts/Answer.tsx';
import { readField, splitNames } from '../../parts/FormDialog.tsx';
import { ListTable } from '../../parts/ListTable.tsx';
import { useChange } from '../../parts/useChange.ts';
import { usePlace } from '../../shell/router.tsx';
import { settingsWords } from './words.ts';

/** Who works where, and with which roles. */
export function MembersSection() {
  const t = useWords(settingsWords);
  const { query, setQuery } = usePlace();
  const workspaces = useQuery({
    queryKey: ['workspaces'],
    queryFn: () => ask(api.GET('/api/v1/me/workspaces', { params: { query: { limit: 200 } } })),
  });
  const change = useChange(['workspaces']);
  const create = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    void change(async () => {
      const { id } = await ask(api.POST('/api/control/workspaces', { body: { name: readField(new FormData(form), 'name') } }));
      form.reset();
      setQuery({ workspace: id });
    });
  };
  return (
    <section className="fields">
      <Answer of={workspaces}>
        {({ workspaces }) => {
          const id = query.get('workspace') ?? workspaces[0]?.id ?? '';
          return (
            <>
              <div className="row">
                <label className="row tight">
                  {t.workspace}
                  <select value={id} onChange={(event) => setQuery({ workspace: event.target.value })}>
                    {workspaces.map((workspace) => (
                      <option key={workspace.id} value={workspace.id}>
                        {workspace.name}
                      </option>
                    ))}
                  </select>
                </label>
                <form className="row tight" onSubmit={create}>
                  <input name="name" aria-label={t.newWorkspace} placeholder={t.newWorkspace} required maxLength={100} />
                  <button type="submit">{t.newWorkspace}</button>
                </form>
              </div>
              {id && <MemberTable key={id} workspaceId={id} />}
            </>
          );
        }}
      </Answer>
    </section>
  );
}

function MemberTable({ workspaceId }: { workspaceId: string }) {
  const t = useWords(settingsWords);
  const path = { workspace_id: workspaceId };
  const members = useQuery({
    queryKey: ['members', workspaceId],
    queryFn: () => ask(api.GET('/api/control/workspaces/{workspace_id}/users', { params: { path, query: { limit: 500 } } })),
  });
  const change = useChange(['members', workspaceId]);
  /** Of who is a member already, it changes the base role. */
  const put = (body: { email: string; role: Role }) =>
    void change(() => ask(api.POST('/api/control/workspaces/{workspace_id}/users', { params: { path }, body })));
  const add = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    put({ email: readField(fields, 'email'), role: fields.get('role') as Role });
  };
  const setRoles = (userId: string, text: string) => {
    const roles = splitNames(text);
    const params = { path: { ...path, user_id: userId } };
    void change(() => ask(api.PUT('/api/control/workspaces/{workspace_id}/users/{user_id}/roles', { params, body: { roles } })));
  };
  const remove = (userId: string) =>
    void change(() =>
      tell(api.DELETE('/api/control/workspaces/{workspace_id}/users/{user_id}', { params: { path: { ...path, user_id: userId } } })),
    );
  return (
    <>
      <Answer of={members}>
        {({ users }) => (
          <ListTable heads={[t.member, t.role, t.roles, t.remove]}>
            {users.map(({ user, role, roles, is_owner: isOwner }) => (
              <tr key={user.id}>
                <td>
                  {user.name} <span className="dim">{user.email}</span>
                </td>
                <td>
                  {isOwner ? (
                    <>
                      {t.baseRoles[role]} <span className="mark">{t.owner}</span>
                    </>
                  ) : (
                    <RoleChoice
                      label={`${t.role}: ${user.email}`}
                      value={role}
                      onChoose={(next) => put({ email: user.email, role: next })}
                    />
                  )}
                </td>
                <td>
                  <input
                    aria-label={`${t.roles}: ${user.email}`}
                    defaultValue={roles.join(', ')}
                    onBlur={(event) => event.target.value !== roles.join(', ') && setRoles(user.id, event.target.value)}
                  />
                </td>
                <td>
                  {!isOwner && (
                    <button
                      type="button"
                      className="danger"
                      onClick={() => confirm(t.removeSure(user.name ?? user.email)) && remove(user.id)}
                    >
                      {t.remove}
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </ListTable>
        )}
      </Answer>
      <form className="row" onSubmit={add}>
        <input name="email" type="email" aria-label={t.member} placeholder="name@example.com" required />
        <RoleChoice label={t.role} />
        <button type="submit">{t.invite}</button>
      </form>
    </>
  );
}

type Role = Schemas['BaseRole'];

/** A field of a form, or with a value one that is told at once. */
function RoleChoice({ label, value, onChoose }: { label: string; value?: Role; onChoose?: (role: Role) => void }) {
  const t = useWords(settingsWords);
  const kept = value ? { value, onChange: (event: ChangeEvent<HTMLSelectElement>) => onChoose?.(event.target.value as Role) } : {};
  return (
    <select name="role" aria-label={label} {...(value ? kept : { defaultValue: 'editor' })}>
      {(['viewer', 'editor', 'admin'] as const).map((role) => (
        <option key={role} value={role}>
          {t.baseRoles[role]}
        </option>
      ))}
    </select>
  );
}
