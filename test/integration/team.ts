import { ok, type Person, startTestApi } from '../setup/api.ts';
import { makeWorkspace } from '../setup/credentials.ts';

/** People with every role in one workspace, and one from outside. */
export async function startTeam() {
  const api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  const [owner, admin, editor, viewer, outsider] = (await Promise.all(
    ['Owner', 'Admin', 'Editor', 'Viewer', 'Outsider'].map((name) => api.signUp(name)),
  )) as [Person, Person, Person, Person, Person];
  const team = await makeWorkspace(owner.client, 'Team');
  const join = async (id: string, person: Person, role: 'admin' | 'editor' | 'viewer'): Promise<void> => {
    ok(await owner.client.POST('/api/control/workspaces/{workspace_id}/users', { ...workspace(id), body: { email: person.email, role } }));
  };
  for (const [person, role] of [
    [admin, 'admin'],
    [editor, 'editor'],
    [viewer, 'viewer'],
  ] as const)
    await join(team, person, role);
  return { api, owner, admin, editor, viewer, outsider, team, join };
}

export const workbook = (id: string) => ({ params: { path: { workbook_id: id } } });
export const workspace = (id: string) => ({ params: { path: { workspace_id: id } } });
export const member = (id: string, userId: string) => ({ params: { path: { workspace_id: id, user_id: userId } } });
