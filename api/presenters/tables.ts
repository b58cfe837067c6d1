import type { SeenArtifact } from '../../activities/discovery/pageArtifacts.ts';
import type { ReadRow } from '../../activities/rows/readRow.ts';
import type { DescribedTable, SeenTable } from '../../activities/tables/seeTables.ts';
import { rowIdColumn, type TableAt, type TableRecord } from '../../core/table/table.ts';
import { rowIdField, type VisibleColumns } from '../../core/table/visibleTable.ts';
import type { components } from '../../schema/contract.ts';
import { presentFreshness } from './transforms.ts';
import { writeObject } from './writeObject.ts';

type Schemas = components['schemas'];

export function presentTableSummary({ table, seen, freshness }: SeenTable): Schemas['TableSummary'] {
  return {
    name: table.name,
    type: table.type,
    description: table.description,
    id: table.id,
    row_count: table.rowCount,
    schema: seen.columns.map((column) => ({ name: column.name, type: column.type })),
    state: table.state,
    table_name: table.name,
    updated_at: table.updatedAt.toISOString(),
    workbook_id: table.workbookId,
    edit_version: table.editVersion,
    freshness: presentFreshness(freshness),
  };
}

export function presentArtifact(artifact: SeenArtifact): Schemas['ArtifactSummary'] {
  if ('table' in artifact) return presentTableSummary(artifact);
  return {
    name: artifact.name,
    type: artifact.kind,
    description: artifact.title,
    id: artifact.id,
    row_count: null,
    schema: null,
    state: 'active',
    table_name: null,
    updated_at: artifact.updatedAt.toISOString(),
    workbook_id: artifact.workbookId,
  };
}

export function presentTable({ visible, origin, transform, freshness }: DescribedTable): Schemas['Table'] {
  return {
    ...presentTableSummary({ table: visible.at.table, seen: visible, freshness }),
    layer: visible.at.table.layer,
    masked_columns: maskedNames(visible),
    columns: presentColumns(visible),
    source: origin && {
      id: origin.sourceId,
      name: origin.source.name,
      sheet: origin.source.format === 'xlsx' ? origin.sheet : null,
      range: origin.range,
    },
    transform: transform && {
      name: transform.name,
      language: transform.language,
      inputs: transform.inputs,
      key: transform.key?.filter((name) => visible.columns.some((column) => column.name === name)) ?? null,
    },
  };
}

function maskedNames({ columns }: Pick<VisibleColumns, 'columns'>): string[] {
  return columns.filter((column) => column.masked).map((column) => column.name);
}

export function presentColumns({ columns }: VisibleColumns): Schemas['ColumnInfo'][] {
  return [...columns, rowIdField].map(({ name, type, masked, description }) => ({ column: name, name, type, masked, description }));
}

/** `sample` are rows as JSON texts, which keep every digit. */
export function writeTableSchema(at: TableAt, visible: VisibleColumns, sample: string[]): string {
  const fields = {
    name: at.table.name,
    edit_version: at.editVersion,
    columns: presentColumns(visible),
    row_count: at.rowCount,
    masked_columns: maskedNames(visible),
  };
  return writeObject(fields, { sample });
}

export function writeRow(at: TableAt, rowId: number, { columns, json }: ReadRow): string {
  const fields = { name: at.table.name, row_id: rowId, edit_version: at.editVersion, masked_columns: maskedNames({ columns }) };
  return `${JSON.stringify(fields).slice(0, -1)},"row":${json}}`;
}

const dayPattern = '[0-9]{4}-[0-9]{2}-[0-9]{2}';
const timePattern = '[0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,6})?)?';

const jsonTypes: Record<string, Record<string, unknown>> = {
  VARCHAR: { type: ['string', 'null'] },
  BIGINT: { type: ['integer', 'string', 'null'], pattern: '^[+-]?[0-9]{1,19}$' },
  DOUBLE: { type: ['number', 'null'] },
  BOOLEAN: { type: ['boolean', 'null'] },
  DATE: { type: ['string', 'null'], format: 'date' },
  // JSON Schema's `date-time` and `time` require a time zone, which these types lack.
  TIMESTAMP: {
    type: ['string', 'null'],
    pattern: `^${dayPattern}([T ]${timePattern}(Z|[+-][0-9]{2}:?[0-9]{2})?)?$`,
    description: 'ISO 8601 date and time; with an offset it is kept in UTC',
  },
  TIME: { type: ['string', 'null'], pattern: `^${timePattern}$`, description: 'ISO 8601 time of day' },
  JSON: {},
};

/** A JSON Schema of one row as the caller may write it: without denied columns, every cell nullable. */
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
