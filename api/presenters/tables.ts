import { openVisibleColumns } from '../../activities/tables/openVisibleTable.ts';
import type { Principal } from '../../core/access/principal.ts';
import { rowIdColumn, type TableRecord } from '../../core/table/table.ts';
import { rowIdField, type VisibleColumn, type VisibleColumns, type VisibleTable } from '../../core/table/visibleTable.ts';
import type { components } from '../../schema/contract.ts';
import type { Orm } from '../../store/pg/database.ts';
import type { LandingRecord, SourceRecord } from '../../store/pg/sources.ts';
import { listColumnsAt } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';

type Schemas = components['schemas'];

export function presentTableSummary(table: TableRecord, { columns }: VisibleColumns): Schemas['TableSummary'] {
  return {
    name: table.name,
    type: table.type,
    description: table.description,
    id: table.id,
    row_count: table.rowCount,
    schema: columns.map((column) => ({ name: column.name, type: column.type })),
    state: table.state,
    table_name: table.name,
    updated_at: table.updatedAt.toISOString(),
    workbook_id: table.workbookId,
    edit_version: table.editVersion,
    freshness: { stale: false, stale_since: null },
  };
}

/** Tables in short, as the caller may see them. */
export async function summarizeTables(
  services: Services,
  principal: Principal,
  orm: Orm,
  tables: TableRecord[],
): Promise<Schemas['TableSummary'][]> {
  const versions = new Map(tables.map((table) => [table.id, table.editVersion]));
  const columns = await listColumnsAt(orm, [...versions.keys()], (id) => versions.get(id) ?? 0);
  return Promise.all(
    tables.map(async (table) =>
      presentTableSummary(table, await openVisibleColumns(services, principal, { table, columns: columns.get(table.id) ?? [] })),
    ),
  );
}

export function presentTable(visible: VisibleTable, origin: (LandingRecord & { source: SourceRecord }) | null): Schemas['Table'] {
  return {
    ...presentTableSummary(visible.at.table, visible),
    layer: visible.at.table.layer,
    masked_columns: maskedNames(visible),
    columns: presentColumns(visible),
    source: origin && {
      id: origin.sourceId,
      name: origin.source.name,
      sheet: origin.source.format === 'xlsx' ? origin.sheet : null,
      range: origin.range,
    },
    transform: null,
  };
}

export function maskedNames({ columns }: VisibleColumns): string[] {
  return columns.filter((column) => column.masked).map((column) => column.name);
}

export function presentColumns({ columns }: VisibleColumns): Schemas['ColumnInfo'][] {
  return [...columns, rowIdField].map(({ name, type, masked, description }) => ({ column: name, name, type, masked, description }));
}

export function presentColumnDefs(columns: VisibleColumn[]): Schemas['ColumnDef'][] {
  return columns.map(({ name, type }) => ({ name, type }));
}

const dayPattern = '[0-9]{4}-[0-9]{2}-[0-9]{2}';
const timePattern = '[0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,6})?)?';

const jsonTypes: Record<string, Record<string, unknown>> = {
  VARCHAR: { type: ['string', 'null'] },
  BIGINT: { type: ['integer', 'string', 'null'], pattern: '^[+-]?[0-9]{1,19}$' },
  DOUBLE: { type: ['number', 'null'] },
  BOOLEAN: { type: ['boolean', 'null'] },
  DATE: { type: ['string', 'null'], format: 'date' },
  // The formats `date-time` and `time` of JSON Schema want a zone, and these have none.
  TIMESTAMP: {
    type: ['string', 'null'],
    pattern: `^${dayPattern}([T ]${timePattern}(Z|[+-][0-9]{2}:?[0-9]{2})?)?$`,
    description: 'ISO 8601 date and time; with an offset it is kept in UTC',
  },
  TIME: { type: ['string', 'null'], pattern: `^${timePattern}$`, description: 'ISO 8601 time of day' },
  JSON: {},
};

/** A JSON Schema of one row, as the caller may write it: denied columns absent, every cell nullable. */
export function presentRowSchema(table: TableRecord, { columns }: VisibleColumns): Record<string, unknown> {
  const decimal = { type: ['string', 'number', 'null'], pattern: '^[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)$' };
  const properties = Object.fromEntries(
    columns.map((column) => {
      const type = jsonTypes[column.type] ?? decimal;
      return [
        column.name,
        {
          ...type,
          ...(column.description ? { description: column.description } : {}),
          ...(column.masked ? { readOnly: true } : {}),
        },
      ];
    }),
  );
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: table.name,
    ...(table.description ? { description: table.description } : {}),
    type: 'object',
    additionalProperties: false,
    properties: {
      ...properties,
      [rowIdColumn]: { type: 'integer', minimum: 1, description: 'Absent: insert. Present: update of the given cells.' },
    },
  };
}
