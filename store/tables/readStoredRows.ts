import { DomainError } from '../../core/errors.ts';
import { fillDefaults } from '../../core/table/cells.ts';
import { mayHold, settleRows } from '../../core/table/layers.ts';
import { estimateRowsMemory } from '../../core/table/rowBytes.ts';
import { type Cells, type ColumnRecord, rowIdColumn, type TableAt } from '../../core/table/table.ts';
import { seeEverything } from '../../core/table/visibleTable.ts';
import { cellText } from '../duckdb/cellText.ts';
import { findFileRows } from '../duckdb/fileRows.ts';
import { quoteName } from '../duckdb/relation.ts';
import { isWide } from '../duckdb/wide.ts';
import { takeWorkMemory } from '../workMemory.ts';
import { queryTable } from './openRelation.ts';
import { readLogLayers } from './readLogLayers.ts';
import { eachColumn, withStoredColumns } from './storedColumns.ts';
import type { TableStorage } from './tableStorage.ts';

/** What edited rows may take in memory. */
const mostBytes = 224 * 1024 * 1024;

/** With more files than this, one statement over all of them is faster. */
const fewFiles = 4;

/** Whole rows by id, as canonical text by column id. Rows that do not exist are left out. */
export async function readStoredRows(storage: TableStorage, at: TableAt, rowIds: number[]): Promise<Map<number, Cells>> {
  if (rowIds.length === 0) return new Map();
  const bytes = estimateRowsMemory(at, at.columns, rowIds.length);
  if (bytes > mostBytes)
    throw new DomainError('too-large', 'The rows that are named hold too much to be changed at once.', 'Name fewer rows at a time.');
  await takeWorkMemory(bytes);
  const wide = isWide(at.columns) ? await askByColumn(storage, at, rowIds) : null;
  if (wide) return wide;
  const files = at.layers.filter((layer) => layer.kind !== 'log' && mayHold(layer, { ids: rowIds }));
  return files.length <= fewFiles ? askInTurn(storage, at, rowIds) : askAtOnce(storage, at, rowIds);
}

/** Reads newer layers first, and older files only for rows not found yet: rows edited before are often edited again. */
async function askInTurn(storage: TableStorage, at: TableAt, rowIds: number[]): Promise<Map<number, Cells>> {
  const settled = await settleRows(at.layers, await readLogLayers(storage, at, { ids: rowIds }), async (layer, known) => {
    const asked = rowIds.filter((id) => !known.has(id));
    if (asked.length === 0 || !mayHold(layer, { ids: asked })) return new Map();
    const blobs = await storage.blobs.open([layer.key]);
    try {
      return await findFileRows(storage.engine, blobs.pathOf(layer.key), asked, at.columns.length);
    } finally {
      blobs.release();
    }
  });
  return new Map([...(settled ?? [])].flatMap(([id, cells]) => (cells ? [[id, fillDefaults(at.columns, cells)] as const] : [])));
}

/** Null: only DuckDB can read the files. */
async function askByColumn(storage: TableStorage, at: TableAt, rowIds: number[]): Promise<Map<number, Cells> | null> {
  return withStoredColumns(storage, at, { ids: rowIds }, async (rows) => {
    const cells = rows.ids.map((): Cells => ({}));
    await eachColumn(rows, at.columns, (texts, i) => {
      const { id } = at.columns[i] as ColumnRecord;
      for (let row = 0; row < texts.length; row += 1) (cells[row] as Cells)[id] = texts[row] as string | null;
    });
    return new Map(rows.ids.map((id, row) => [id, cells[row] as Cells]));
  });
}

async function askAtOnce(storage: TableStorage, at: TableAt, rowIds: number[]): Promise<Map<number, Cells>> {
  const columns = at.columns.map(({ name, type }) => cellText(quoteName(name), type));
  const rows = await queryTable(storage, seeEverything(at), { ids: rowIds }, async (connection, from) => {
    const reader = await connection.runAndReadAll(`SELECT CAST(${rowIdColumn} AS VARCHAR), ${columns.join(', ')} FROM ${from}`);
    return reader.getRows() as (string | null)[][];
  });
  return new Map(
    rows.map(([id, ...values]) => [Number(id), Object.fromEntries(at.columns.map((column, i) => [column.id, values[i] ?? null]))]),
  );
}
