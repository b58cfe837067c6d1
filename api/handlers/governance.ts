import { requireWorkbook } from '../../activities/access.ts';
import { pageClassifications, pagePolicies } from '../../activities/governance/pageGovernance.ts';
import { previewAccess } from '../../activities/governance/previewAccess.ts';
import { removePolicy, setPolicy } from '../../activities/governance/setPolicy.ts';
import { requireTag, tagColumn, untagColumn } from '../../activities/governance/tagColumn.ts';
import { requireTable } from '../../activities/tables/openTable.ts';
import { requireNamedTable } from '../../activities/tables/requireNamedTable.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentAccess, presentClassification, presentPolicy, presentTagged } from '../presenters/governance.ts';

type GovernanceOperations =
  | 'tagColumn'
  | 'untagColumn'
  | 'listClassifications'
  | 'listPolicies'
  | 'setPolicy'
  | 'deletePolicy'
  | 'previewAccess';

export function makeGovernanceHandlers({ services }: ApiParts): Handlers<GovernanceOperations> {
  return {
    // Who may set tags may name every column, also those that are denied to them.
    async tagColumn(call) {
      const { principal, params, body } = call;
      const at = await requireNamedTable(services, principal, params, 'editor');
      const tag = requireTag(body.tag, '/tag');
      return call.writeAs(call.actor(body.actor))(
        (tx) => tagColumn(tx, at.table, params.column, tag),
        (tagged) => ({ status: 200, body: presentTagged(at.table.name, tagged) }),
      );
    },

    async untagColumn(call) {
      const { principal, params, query } = call;
      const at = await requireNamedTable(services, principal, params, 'editor');
      return call.writeAs(call.actor(query.actor))(
        (tx) => untagColumn(tx, at.table, params.column, params.tag),
        () => ({ status: 204 }),
      );
    },

    async listClassifications({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const page = await pageClassifications(services, principal, workbook, query);
      return { status: 200, body: { classifications: page.items.map(presentClassification), next_cursor: page.nextCursor } };
    },

    async listPolicies({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const page = await pagePolicies(services, workbook.id, query);
      return { status: 200, body: { policies: page.items.map(presentPolicy), next_cursor: page.nextCursor } };
    },

    async setPolicy(call) {
      const { principal, params, body } = call;
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'editor');
      const rule = { tag: requireTag(params.tag, '/path/tag'), role: requireTag(body.role ?? '*', '/role'), effect: body.effect };
      return call.writeAs(call.actor(body.actor))(
        (tx) => setPolicy(tx, workbook, rule),
        (set) => ({ status: 200, body: presentPolicy(set) }),
      );
    },

    async deletePolicy(call) {
      const { principal, params, query } = call;
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'editor');
      return call.writeAs(call.actor(query.actor))(
        (tx) => removePolicy(tx, workbook.id, params.tag, query.role ?? null),
        () => ({ status: 204 }),
      );
    },

    async previewAccess({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const at = await requireTable(services, workbook.id, params.name);
      const asked = { ...(query.role ? { roles: query.role } : {}), ...(query.user_id === undefined ? {} : { userId: query.user_id }) };
      return { status: 200, body: presentAccess(at.table.name, await previewAccess(services, principal, workbook, at, asked)) };
    },
  };
}
