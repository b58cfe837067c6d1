import { randomUUID } from 'node:crypto';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { rowIdColumn, type TableAt } from '../../core/table/table.ts';
import { seeEverything } from '../../core/table/visibleTable.ts';
import { tablePrefix } from '../blobs/keys.ts';
import { fieldIds, innerName } from '../duckdb/buildRelation.ts';
import { cellText } from '../duckdb/cellText.ts';
import { readAll } from '../duckdb/engine.ts';
import { chooseGroupRows } from '../duckdb/wide.ts';
import { storeFile, type WrittenFile } from '../duckdb/writeFile.ts';
import { type GroupColumn, openColumn, ParquetFile } from '../parquet/parquetFile.ts';
import { storeType } from '../parquet/storedTypes.ts';
import { queryTable } from './openRelation.ts';
import { eachColumn, type StoredColumns, withStoredColumns } from './storedColumns.ts';
import type { TableStorage } from './tableStorage.ts';
import { isKept, type WrittenColumn } from './writtenColumns.ts';

/** Writes the rows of a span, column by column. Null: only DuckDB can read them. */
export async function writeWideSpan(
  storage: TableStorage,
  at: TableAt,
  columns: WrittenColumn[],
  span: { minRow: number; maxRow: number },
): Promise<WrittenFile | null> {
  const ids = await withStoredColumns(storage, at, { min: span.minRow, max: span.maxRow }, async (rows) => rows.ids);
  if (!ids) return null;
  const size = chooseGroupRows(columns.length);
  let isWhole = true;
  const written = await storeFile(storage, tablePrefix(at.table), async (path) => {
    const file = await ParquetFile.create(path);
    try {
      for (let first = 0; isWhole && first < ids.length; first += size) {
        const part = ids.slice(first, first + size);
        const group = await withStoredColumns(storage, at, { ids: part }, (rows) => gatherGroup(storage, at, columns, rows));
        if (group) await file.writeGroup(part.length, group);
        isWhole &&= group !== null;
      }
      await file.finish({ svc_file: randomUUID() });
    } catch (error) {
      await file.abandon();
      throw error;
    }
  });
  if (isWhole) return written;
  await storage.blobs.remove(written.key);
  return null;
}

async function gatherGroup(storage: TableStorage, at: TableAt, columns: WrittenColumn[], rows: StoredColumns): Promise<GroupColumn[]> {
  const ids = openColumn({ fieldId: fieldIds.rowId, name: rowIdColumn, type: 'BIGINT' });
  for (const id of rows.ids) ids.values.add(id);
  const gathered = new Map<WrittenColumn, GroupColumn>();
  const gather = (column: WrittenColumn, texts: (string | null)[]) => {
    const type = storeType(parseColumnType(column.type) as ColumnType);
    const group = openColumn({ fieldId: column.id, name: innerName(column.id), type });
    for (const [row, text] of texts.entries()) if (text !== null) group.values.putString(row, text);
    gathered.set(column, group);
  };
  const kept = columns.filter(isKept);
  await eachColumn(
    rows,
    kept.map((column) => column.of),
    (texts, i) => gather(kept[i] as WrittenColumn, texts),
  );
  for (const column of columns.filter((each) => !isKept(each))) gather(column, await computeTexts(storage, at, column, rows.ids));
  return [ids, ...columns.map((column) => gathered.get(column) as GroupColumn)];
}

/** Computes the texts of a column that is changed by SQL, with DuckDB. */
async function computeTexts(storage: TableStorage, at: TableAt, column: WrittenColumn, ids: number[]): Promise<(string | null)[]> {
  return queryTable(storage, seeEverything({ ...at, columns: [column.of] }), { ids }, async (connection, from) => {
    const texts = cellText(`(${column.sql})`, column.type);
    const rows = await readAll(connection, `SELECT ${texts} FROM ${from} ORDER BY ${rowIdColumn}`);
    return rows.map(([text]) => text as string | null);
  });
}
