import { requireWorkbook } from '../../activities/access.ts';
import { configureWorkbook, deleteWorkbook } from '../../activities/workbooks/changeWorkbook.ts';
import { chooseWorkspace, createWorkbook } from '../../activities/workbooks/createWorkbook.ts';
import { describeWorkbook } from '../../activities/workbooks/describeWorkbooks.ts';
import { pageWorkbooks } from '../../activities/workbooks/pageWorkbooks.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentWorkbook, presentWorkbooks } from '../presenters/workbooks.ts';

type WorkbookOperations = 'listWorkbooks' | 'listMyWorkbooks' | 'createWorkbook' | 'getWorkbook' | 'updateWorkbook' | 'deleteWorkbook';

export function makeWorkbookHandlers({ services }: ApiParts): Handlers<WorkbookOperations> {
  return {
    async listWorkbooks({ principal, query }) {
      return { status: 200, body: presentWorkbooks(await pageWorkbooks(services, principal, query)) };
    },

    async listMyWorkbooks({ principal, query }) {
      return { status: 200, body: presentWorkbooks(await pageWorkbooks(services, principal, query, { ownedOnly: true })) };
    },

    async createWorkbook(call) {
      const { title, visibility } = call.body;
      const workspace = await chooseWorkspace(services, call.principal, call.body.workspace_id);
      return call.write(
        (tx) => createWorkbook(tx, call.principal, { title, visibility, workspace }),
        (made) => ({
          status: 201,
          body: presentWorkbook(made),
          headers: { Location: `/api/v1/workbooks/${made.workbook.id}` },
        }),
      );
    },

    async getWorkbook({ principal, params }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      return { status: 200, body: presentWorkbook(await describeWorkbook(services.db.orm, workbook)) };
    },

    async updateWorkbook(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const { title, visibility } = call.body;
      const fields = { ...(title === undefined ? {} : { title }), ...(visibility === undefined ? {} : { visibility }) };
      return call.write(
        (tx) => configureWorkbook(tx, workbook, fields, call.principal.userId),
        (changed) => ({ status: 200, body: presentWorkbook(changed) }),
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
