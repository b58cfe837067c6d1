import { requireAccount, requireAccountReach, requireWorkspace } from '../../activities/access.ts';
import { pageWorkbooks } from '../../activities/workbooks/pageWorkbooks.ts';
import { addMember, removeMember, replaceRoles } from '../../activities/workspaces/changeMembers.ts';
import { configureWorkspace, createWorkspace, deleteWorkspace } from '../../activities/workspaces/changeWorkspace.ts';
import { pageMembers, pageWorkspaces } from '../../activities/workspaces/pageWorkspaces.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentMember, presentWorkspace } from '../presenters/identity.ts';
import { presentWorkbooks } from '../presenters/workbooks.ts';

type WorkspaceOperations =
  | 'listWorkspaces'
  | 'createWorkspace'
  | 'getWorkspace'
  | 'configureWorkspace'
  | 'deleteWorkspace'
  | 'listWorkspaceUsers'
  | 'addWorkspaceUser'
  | 'removeWorkspaceUser'
  | 'setUserRoles'
  | 'listWorkspaceWorkbooks';

export function makeWorkspaceHandlers({ services }: ApiParts): Handlers<WorkspaceOperations> {
  return {
    async listWorkspaces({ principal, query }) {
      const account = await requireAccount(services, principal, query.account_id);
      const page = await pageWorkspaces(services, principal, [account.id], query);
      return { status: 200, body: { workspaces: page.items.map(presentWorkspace), next_cursor: page.nextCursor } };
    },

    async createWorkspace(call) {
      requireAccountReach(call.principal);
      const account = await requireAccount(services, call.principal, call.body.account_id);
      return call.write(
        (tx) => createWorkspace(tx, account, { name: call.body.name, residency: call.body.residency ?? null }),
        (workspace) => ({
          status: 201,
          body: presentWorkspace(workspace),
          headers: { Location: `/api/control/workspaces/${workspace.id}` },
        }),
      );
    },

    async getWorkspace({ principal, params }) {
      return { status: 200, body: presentWorkspace(await requireWorkspace(services, principal, params.workspace_id, 'viewer')) };
    },

    async configureWorkspace(call) {
      const workspace = await requireWorkspace(services, call.principal, call.params.workspace_id, 'admin');
      const { name, residency, naming, preprocess_rules: preprocessRules, idp_config: idpConfig } = call.body;
      const fields = {
        ...(name == null ? {} : { name }),
        ...(residency === undefined ? {} : { residency }),
        ...(naming === undefined || naming === null ? {} : { naming }),
        ...(preprocessRules === undefined ? {} : { preprocessRules }),
        ...(idpConfig === undefined ? {} : { idpConfig }),
      };
      return call.write(
        (tx) => configureWorkspace(tx, workspace, fields),
        (changed) => ({ status: 200, body: presentWorkspace(changed) }),
      );
    },

    async deleteWorkspace(call) {
      const workspace = await requireWorkspace(services, call.principal, call.params.workspace_id, 'admin');
      return call.write(
        (tx) => deleteWorkspace(tx, workspace, call.principal.userId),
        () => ({ status: 204 }),
      );
    },

    async listWorkspaceUsers({ principal, params, query }) {
      const workspace = await requireWorkspace(services, principal, params.workspace_id, 'viewer');
      const page = await pageMembers(services, workspace.id, query);
      return {
        status: 200,
        body: { users: page.items.map((member) => presentMember(member, workspace.ownerId)), next_cursor: page.nextCursor },
      };
    },

    async addWorkspaceUser(call) {
      const workspace = await requireWorkspace(services, call.principal, call.params.workspace_id, 'admin');
      return call.write(
        (tx) => addMember(tx, workspace, call.body),
        ({ member, added }) => {
          const body = presentMember(member, workspace.ownerId);
          return added ? { status: 201, body } : { status: 200, body };
        },
      );
    },

    async removeWorkspaceUser(call) {
      const workspace = await requireWorkspace(services, call.principal, call.params.workspace_id, 'admin');
      return call.write(
        (tx) => removeMember(tx, workspace, call.params.user_id),
        () => ({ status: 204 }),
      );
    },

    async setUserRoles(call) {
      const workspace = await requireWorkspace(services, call.principal, call.params.workspace_id, 'admin');
      return call.write(
        (tx) => replaceRoles(tx, workspace, call.params.user_id, call.body.roles),
        (member) => ({ status: 200, body: presentMember(member, workspace.ownerId) }),
      );
    },

    async listWorkspaceWorkbooks({ principal, params, query }) {
      const workspace = await requireWorkspace(services, principal, params.workspace_id, 'viewer');
      return { status: 200, body: presentWorkbooks(await pageWorkbooks(services, principal, query, { workspaceId: workspace.id })) };
    },
  };
}
