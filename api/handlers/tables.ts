import { requireWorkbook } from '../../activities/access.ts';
import { requireVisibleColumn } from '../../activities/columns/openColumn.ts';
import { pageArtifacts } from '../../activities/discovery/pageArtifacts.ts';
import { readRows } from '../../activities/rows/readRows.ts';
import { setColumnDescription, setTableDescription, setTableState } from '../../activities/tables/changeTable.ts';
import { checkColumns, createTable } from '../../activities/tables/createTable.ts';
import { openVisibleTable } from '../../activities/tables/openVisibleTable.ts';
import { removeTable } from '../../activities/tables/removeTable.ts';
import { requireNamedTable } from '../../activities/tables/requireNamedTable.ts';
import { describeTable, pageTables } from '../../activities/tables/seeTables.ts';
import type { Principal } from '../../core/access/principal.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { Handlers, Reply } from '../http/call.ts';
import { schemaType } from '../http/negotiate.ts';
import type { ApiParts } from '../http/pipeline.ts';
import {
  presentArtifact,
  presentColumns,
  presentRowSchema,
  presentTable,
  presentTableSummary,
  writeTableSchema,
} from '../presenters/tables.ts';

type TableOperations =
  | 'listArtifacts'
  | 'listTables'
  | 'createTable'
  | 'getTable'
  | 'deleteTable'
  | 'listColumns'
  | 'getTableSchema'
  | 'getArtifactSchema'
  | 'describeArtifact'
  | 'describeColumn'
  | 'archiveArtifact'
  | 'unarchiveArtifact';

/** Undefined: tables in every state. */
const readState = (state: 'active' | 'archived' | 'all' | undefined) => (state === 'all' ? undefined : state);

/** In a query string null is the text `null`. */
export function parseExpectedVersion(text: string): number | null {
  return text === 'null' ? null : Number(text);
}

export function makeTableHandlers({ services }: ApiParts): Handlers<TableOperations> {
  const describeSchema = async (
    principal: Principal,
    at: TableAt,
    type: string,
  ): Promise<Reply<'getTableSchema'> & Reply<'getArtifactSchema'>> => {
    const visible = await openVisibleTable(services, principal, at);
    const validator = { version: at.editVersion };
    if (type === schemaType)
      return {
        status: 200,
        validator,
        raw: { type, data: JSON.stringify(presentRowSchema(at.table, visible)) },
      };
    const sample = await readRows(services, visible, { limit: 5, userId: principal.userId });
    return { status: 200, validator, raw: { type, data: writeTableSchema(at, visible, sample.rows) } };
  };

  return {
    async listArtifacts({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const page = await pageArtifacts(services, principal, workbook.id, { ...query, state: readState(query.state) });
      return { status: 200, body: { artifacts: page.items.map(presentArtifact), next_cursor: page.nextCursor } };
    },

    async listTables({ principal, params, query }) {
      const workbook = await requireWorkbook(services, principal, params.workbook_id, 'viewer');
      const page = await pageTables(services, principal, workbook.id, { ...query, state: readState(query.state ?? 'active') });
      return { status: 200, body: { tables: page.items.map(presentTableSummary), next_cursor: page.nextCursor } };
    },

    async createTable(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const columns = checkColumns(call.body.columns, '/columns');
      return call.write(
        (tx) => createTable(tx, workbook, { name: call.body.name, columns }),
        ({ name, editVersion }) => ({
          status: 201,
          headers: { Location: `/api/v1/workbooks/${workbook.id}/tables/${encodeURIComponent(name)}`, ETag: `"${editVersion}"` },
          body: { table: { name, type: 'table', edit_version: editVersion, layer: 'base', table_name: name } },
        }),
      );
    },

    async getTable({ principal, params }) {
      const at = await requireNamedTable(services, principal, params, 'viewer');
      const body = presentTable(await describeTable(services, principal, at));
      return { status: 200, validator: { version: at.editVersion }, body };
    },

    async deleteTable(call) {
      const workbook = await requireWorkbook(services, call.principal, call.params.workbook_id, 'editor');
      const expectedVersion = parseExpectedVersion(call.query.expected_version);
      const request = { workbookId: workbook.id, name: call.params.name, expectedVersion };
      return removeTable(services, call.writeAs(call.actor(call.query.actor)), call.principal, request, () => ({ status: 204 }));
    },

    async listColumns({ principal, params }) {
      const at = await requireNamedTable(services, principal, params, 'viewer');
      return {
        status: 200,
        validator: { version: at.editVersion },
        body: {
          name: at.table.name,
          edit_version: at.editVersion,
          columns: presentColumns(await openVisibleTable(services, principal, at)),
          table_name: at.table.name,
        },
      };
    },

    async getTableSchema({ principal, params, type }) {
      return describeSchema(principal, await requireNamedTable(services, principal, params, 'viewer'), type);
    },

    async getArtifactSchema({ principal, params, type }) {
      return describeSchema(principal, await requireNamedTable(services, principal, params, 'viewer'), type);
    },

    async describeArtifact(call) {
      const { table } = await requireNamedTable(services, call.principal, call.params, 'editor');
      const description = call.body.description ?? null;
      return call.write(
        (tx) => setTableDescription(tx, table, description),
        () => ({ status: 200, body: { name: table.name, description } }),
      );
    },

    async describeColumn(call) {
      const at = await requireNamedTable(services, call.principal, call.params, 'editor');
      const { columns } = await openVisibleTable(services, call.principal, at);
      const column = requireVisibleColumn(columns, call.params.column);
      const description = call.body.description ?? null;
      return call.write(
        (tx) => setColumnDescription(tx, at.table, column, description),
        () => ({ status: 200, body: { name: at.table.name, column: column.name, description } }),
      );
    },

    async archiveArtifact(call) {
      const { table } = await requireNamedTable(services, call.principal, call.params, 'editor');
      return call.write(
        (tx) => setTableState(tx, table, 'archived'),
        ({ state }) => ({ status: 200, body: { name: table.name, state, table_name: table.name, type: table.type } }),
      );
    },

    async unarchiveArtifact(call) {
      const { table } = await requireNamedTable(services, call.principal, call.params, 'editor', 'archived');
      return call.write(
        (tx) => setTableState(tx, table, 'active'),
        ({ state }) => ({ status: 200, body: { name: table.name, state, table_name: table.name, type: table.type } }),
      );
    },
  };
}
