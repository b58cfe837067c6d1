import { buildRelation, type RowSelection, rowIdColumn } from '../../store/duckdb/buildRelation.ts';
import { withRelation } from '../../store/duckdb/engine.ts';
import { quoteName } from '../../store/duckdb/relation.ts';
import type { TableAt } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { readLogLayers } from '../tables/openTable.ts';

export type Cells = Record<string, string | null>;

/** Whole rows by id, as canonical text by column id. Rows that do not exist are not in the answer. */
export async function readStoredRows(services: Services, at: TableAt, rowIds: number[]): Promise<Map<number, Cells>> {
  const found = new Map<number, Cells>();
  if (rowIds.length === 0) return found;
  const selection: RowSelection = { ids: rowIds };
  const entries = await readLogLayers(services, at, selection);
  const lastLayer = at.layers.length - 1;
  const open: number[] = [];
  const byId = new Map(entries.map((entry) => [entry.rowId, entry]));
  for (const id of rowIds) {
    const entry = byId.get(id);
    // Nothing lies above the last layer: its word is final, and most edited rows are edited again soon.
    if (entry?.layer !== lastLayer) open.push(id);
    else if (entry.cells) found.set(id, fillDefaults(at, entry.cells));
  }
  if (open.length === 0) return found;
  const relation = buildRelation(
    at,
    entries.filter((entry) => entry.layer !== lastLayer),
    new Map(),
    { ids: open },
  );
  if (relation.files.length === 0 && !relation.tail) return found;
  const columns = at.columns.map((column) => `CAST(${quoteName(column.name)} AS VARCHAR)`);
  const rows = await withRelation(services.engine, services.blobs, relation, async (connection, from) => {
    const reader = await connection.runAndReadAll(`SELECT CAST(${rowIdColumn} AS VARCHAR), ${columns.join(', ')} FROM ${from}`);
    return reader.getRows() as (string | null)[][];
  });
  for (const [id, ...values] of rows)
    found.set(Number(id), Object.fromEntries(at.columns.map((column, i) => [column.id, values[i] ?? null])));
  return found;
}

function fillDefaults(at: TableAt, cells: Cells): Cells {
  return Object.fromEntries(at.columns.map((column) => [column.id, column.id in cells ? (cells[column.id] ?? null) : column.defaultText]));
}
