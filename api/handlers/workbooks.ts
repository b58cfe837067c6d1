import { requireNamedWorkspace, requireWorkbook } from '../../activities/access.ts';
import { configureWorkbook, deleteWorkbook } from '../../activities/workbooks/changeWorkbook.ts';
import { chooseWorkspace, createWorkbook } from '../../activities/workbooks/createWorkbook.ts';
import { describeWorkbooks } from '../../activities/workbooks/describeWorkbooks.ts';
import type { Principal } from '../../core/access/principal.ts';
import { cutPage, decodeIdCursor } from '../../core/paging.ts';
import { listVisibleWorkbooks, type WorkbookFilter } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentWorkbook } from '../presenters/workbooks.ts';

export function makeWorkbookHandlers({
  services,
}: ApiParts): Handlers<'listWorkbooks' | 'listMyWorkbooks' | 'createWorkbook' | 'getWorkbook' | 'updateWorkbook' | 'deleteWorkbook'> {
  const { orm } = services.db;
  return {
    async listWorkbooks({ principal, query }) {
      return { status: 200, body: await listWorkbookPage(services, principal, query, {}) };
    },

    async listMyWorkbooks({ principal, query }) {
      return { status: 200, body: await listWorkbookPage(services, principal, query, { ownedOnly: true }) };
    },

    async createWorkbook(call) {
      const workspace = await chooseWorkspace(services, call.principal, call.body.workspace_id);
      return call.write(
        async (tx) => {
          const workbook = await createWorkbook(tx, call.principal, {
            title: call.body.title,
            visibility: call.body.visibility ?? 'workspace',
            workspace,
          });
          return { workbook, detail: await describeWorkbooks(tx.orm, [workbook]) };
        },
        ({ workbook, detail }) => ({
          status: 201,
          body: presentWorkbook(workbook, detail(workbook)),
          headers: { Location: `/api/v1/workbooks/${workbook.id}` },
        }),
      );
    },

    async getWorkbook({ principal, params }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const detail = await describeWorkbooks(orm, [workbook]);
      return { status: 200, body: presentWorkbook(workbook, detail(workbook)) };
    },

    async updateWorkbook(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const { title, visibility } = call.body;
      const fields = { ...(title === undefined ? {} : { title }), ...(visibility === undefined ? {} : { visibility }) };
      return call.write(
        async (tx) => {
          const changed = await configureWorkbook(tx, workbook, fields, call.principal.userId);
          return { changed, detail: await describeWorkbooks(tx.orm, [changed]) };
        },
        ({ changed, detail }) => ({ status: 200, body: presentWorkbook(changed, detail(changed)) }),
      );
    },

    async deleteWorkbook(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'viewer');
      return call.write(
        (tx) => deleteWorkbook(tx, workbook, call.principal.userId),
        () => ({ status: 204 }),
      );
    },
  };
}

/** A page of the workbooks that the principal may see and reach, newest first. */
export async function listWorkbookPage(
  services: Services,
  principal: Principal,
  query: { cursor?: string; limit?: number; workspace_id?: string },
  filter: { ownedOnly?: boolean; workspaceId?: string },
) {
  const limit = query.limit ?? 50;
  const named =
    query.workspace_id === undefined ? {} : { workspaceId: (await requireNamedWorkspace(services, principal, query.workspace_id)).id };
  const { reach } = principal;
  const pin: Pick<WorkbookFilter, 'id' | 'workspaceId'> =
    reach.kind === 'workbook' ? { id: reach.id } : reach.kind === 'workspace' ? { workspaceId: reach.id } : {};
  const rows = await listVisibleWorkbooks(services.db.orm, {
    userId: principal.userId,
    accountIds: principal.accountIds,
    before: decodeIdCursor(query.cursor, 'wb'),
    limit: limit + 1,
    ...pin,
    ...named,
    ...filter,
  });
  const page = cutPage(rows, limit, (workbook) => [workbook.id]);
  const detail = await describeWorkbooks(services.db.orm, page.items);
  return { workbooks: page.items.map((workbook) => presentWorkbook(workbook, detail(workbook))), next_cursor: page.nextCursor };
}
