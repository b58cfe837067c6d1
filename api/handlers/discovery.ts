import { pageOwnArtifacts } from '../../activities/discovery/pageOwnArtifacts.ts';
import { profileTable } from '../../activities/discovery/profileTable.ts';
import { searchArtifacts } from '../../activities/discovery/searchArtifacts.ts';
import { traceLineage, traceRow } from '../../activities/discovery/traceLineage.ts';
import { openVisibleTable } from '../../activities/tables/openVisibleTable.ts';
import { requireNamedTable } from '../../activities/tables/requireNamedTable.ts';
import { requireFreshTable } from '../../activities/transforms/requireFreshTable.ts';
import type { components } from '../../schema/contract.ts';
import type { Handlers } from '../http/call.ts';
import { svgType } from '../http/negotiate.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentHit } from '../presenters/discovery.ts';
import { presentInputRow, presentLineage } from '../presenters/lineage.ts';
import { drawLineage } from '../presenters/lineagePicture.ts';
import { presentArtifact } from '../presenters/tables.ts';

type Schemas = components['schemas'];

export function makeDiscoveryHandlers({
  services,
}: ApiParts): Handlers<'searchArtifacts' | 'listMyData' | 'profileTable' | 'getTableLineage' | 'getRowLineage'> {
  return {
    async searchArtifacts({ principal, query }) {
      const page = await searchArtifacts(services, principal, { q: query.q ?? '', cursor: query.cursor, limit: query.limit ?? 20 });
      return { status: 200, body: { results: page.items.map(presentHit), next_cursor: page.nextCursor } };
    },

    async listMyData({ principal, query }) {
      const page = await pageOwnArtifacts(services, principal, query);
      return { status: 200, body: { artifacts: page.items.map(presentArtifact), next_cursor: page.nextCursor } };
    },

    async profileTable({ principal, params }) {
      const at = await requireFreshTable(services, principal, params);
      const columns = (await profileTable(services, await openVisibleTable(services, principal, at))) as Schemas['ColumnProfile'][];
      return {
        status: 200,
        validator: { version: at.editVersion },
        body: { name: at.table.name, edit_version: at.editVersion, row_count: at.rowCount, columns },
      };
    },

    async getTableLineage({ principal, params, type }) {
      const { table } = await requireNamedTable(services, principal, params, 'viewer');
      const body = presentLineage(table.name, await traceLineage(services, principal, table));
      return { status: 200, ...(type === svgType ? { raw: { type, data: drawLineage(table.id, body) } } : { body }) };
    },

    async getRowLineage({ principal, params }) {
      const at = await requireNamedTable(services, principal, params, 'viewer');
      const { cells, inputs, truncated } = await traceRow(services, principal, at, params.row_id);
      return { status: 200, body: { name: at.table.name, row_id: params.row_id, cells, inputs: inputs.map(presentInputRow), truncated } };
    },
  };
}
