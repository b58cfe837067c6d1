import { requireAccount, requireAccountReach, requireWorkspace } from '../../activities/access.ts';
import { addMember, removeMember, replaceRoles } from '../../activities/workspaces/changeMembers.ts';
import { configureWorkspace, createWorkspace, deleteWorkspace } from '../../activities/workspaces/changeWorkspace.ts';
import { DomainError } from '../../core/errors.ts';
import { cutPage, decodeIdCursor } from '../../core/paging.ts';
import { findOldestWorkspace, listMembers, listVisibleWorkspaces } from '../../store/pg/workspaces.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentMember, presentWorkspace } from '../presenters/identity.ts';
import { listWorkbookPage } from './workbooks.ts';

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
  const { orm } = services.db;
  return {
    async listWorkspaces({ principal, query }) {
      const account = await requireAccount(services, principal, query.account_id);
      const limit = query.limit ?? 50;
      const pin = principal.reach.kind === 'workspace' ? { id: principal.reach.id } : {};
      const rows = await listVisibleWorkspaces(orm, {
        userId: principal.userId,
        accountIds: [account.id],
        after: decodeIdCursor(query.cursor, 'ws'),
        limit: limit + 1,
        ...pin,
      });
      const page = cutPage(rows, limit, (workspace) => [workspace.id]);
      return { status: 200, body: { workspaces: page.items.map(presentWorkspace), next_cursor: page.nextCursor } };
    },

    async createWorkspace(call) {
      requireAccountReach(call.principal);
      const account = await requireAccount(services, call.principal, call.body.account_id);
      return call.write(
        async (tx) => {
          const workspace = await createWorkspace(tx, account, { name: call.body.name, residency: call.body.residency ?? null });
          const oldest = await findOldestWorkspace(tx.orm, account.id);
          return { ...workspace, isDefault: oldest?.id === workspace.id };
        },
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
      const { name, residency, preprocess_rules: preprocessRules, idp_config: idpConfig } = call.body;
      const fields = {
        ...(name == null ? {} : { name }),
        ...(residency === undefined ? {} : { residency }),
        ...(preprocessRules === undefined ? {} : { preprocessRules }),
        ...(idpConfig === undefined ? {} : { idpConfig }),
      };
      return call.write(
        (tx) => configureWorkspace(tx, workspace, fields),
        (changed) => ({ status: 200, body: presentWorkspace({ ...changed, isDefault: workspace.isDefault }) }),
      );
    },

    async deleteWorkspace(call) {
      const workspace = await requireWorkspace(services, call.principal, call.params.workspace_id, 'admin');
      if (workspace.ownerId !== call.principal.userId)
        throw new DomainError('insufficient-role', 'Only the owner of the account may delete its workspaces.', 'Ask the owner.');
      return call.write(
        (tx) => deleteWorkspace(tx, workspace),
        () => ({ status: 204 }),
      );
    },

    async listWorkspaceUsers({ principal, params, query }) {
      const workspace = await requireWorkspace(services, principal, params.workspace_id, 'viewer');
      const limit = query.limit ?? 50;
      const page = cutPage(
        await listMembers(orm, workspace.id, { after: decodeIdCursor(query.cursor, 'usr'), limit: limit + 1 }),
        limit,
        (member) => [member.user.id],
      );
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
      return { status: 200, body: await listWorkbookPage(services, principal, query, { workspaceId: workspace.id }) };
    },
  };
}
