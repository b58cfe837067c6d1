import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { castValue, Refusal } from '../../core/cells/castValue.ts';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { rowIdColumn } from '../../core/table/table.ts';
import { openFolderStore } from '../../store/blobs/folderStore.ts';
import { fieldIds, innerName } from '../../store/duckdb/buildRelation.ts';
import { readAll } from '../../store/duckdb/engine.ts';
import { quoteText } from '../../store/duckdb/relation.ts';
import { type Storage, writeSegment } from '../../store/duckdb/writeFile.ts';
import { findRows } from '../../store/parquet/findRows.ts';
import { useParquetFolder } from './folder.ts';

const { engine, folder } = await useParquetFolder();
const storage: Storage = { blobs: await openFolderStore(folder), engine };

const digits = (length: number) => fc.stringMatching(new RegExp(`^-?[0-9]{1,${length}}$`));
const decimal = (whole: number, scale: number) =>
  fc.tuple(digits(whole), fc.stringMatching(new RegExp(`^[0-9]{0,${scale}}$`))).map((parts) => parts.join('.'));
const day = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }).map((date) => date.toISOString());
const time = fc
  .tuple(fc.integer({ min: 0, max: 86_399 }), fc.stringMatching(/^(\.[0-9]{1,6})?$/))
  .map(([seconds, fraction]) => new Date(seconds * 1000).toISOString().slice(11, 19) + fraction);
/** What a request may hold for each type. */
const values: Record<string, fc.Arbitrary<unknown>> = {
  VARCHAR: fc.string({ unit: 'grapheme', maxLength: 80 }).map((text) => text.replaceAll('\0', '')),
  JSON: fc.jsonValue({ maxDepth: 2 }).filter((value) => !(castValue({ kind: 'JSON' }, value) instanceof Refusal)),
  BOOLEAN: fc.boolean(),
  DOUBLE: fc.double({ noDefaultInfinity: true, noNaN: true }),
  BIGINT: fc.oneof(fc.maxSafeInteger(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String), fc.integer({ min: -3, max: 3 })),
  DATE: day.map((text) => text.slice(0, 10)),
  TIME: time,
  TIMESTAMP: fc.tuple(day, time).map(([date, clock]) => `${date.slice(0, 10)}T${clock}`),
  'DECIMAL(5,2)': decimal(3, 2),
  'DECIMAL(9,0)': digits(9),
  'DECIMAL(18,4)': decimal(14, 4),
  'DECIMAL(38,10)': decimal(28, 10),
};
const types = Object.keys(values);
const columns = types.map((type, i) => ({ id: i + 1, name: `n${i}`, type, defaultText: null, description: null }));
const textOf = (type: string, value: unknown) => {
  const cast = castValue(parseColumnType(type) as ColumnType, value);
  if (cast instanceof Refusal) throw new Error(`${type} ${JSON.stringify(value)}: ${cast.why}`);
  return cast;
};
const asRead = (type: string, text: string | null | undefined) => (type === 'DOUBLE' && text != null ? Number(text) : (text ?? null));

/** What the engine reads of the columns' types, in the order of rows. */
async function readByEngine(path: string): Promise<unknown[][]> {
  const fields = [
    `${fieldIds.rowId}: {name: ${quoteText(rowIdColumn)}, type: 'BIGINT', default_value: NULL::VARCHAR}`,
    ...columns.map(({ id, type }) => `${id}: {name: ${quoteText(innerName(id))}, type: ${quoteText(type)}, default_value: NULL::VARCHAR}`),
  ];
  const list = columns.map(({ id }) => `CAST(${innerName(id)} AS VARCHAR)`).join(', ');
  return storage.engine.use((connection) =>
    readAll(
      connection,
      `SELECT ${list} FROM read_parquet(${quoteText(path)}, schema = MAP {${fields.join(', ')}}) ORDER BY ${rowIdColumn}`,
    ),
  );
}

describe('writeSegment: a segment', () => {
  it('gives back every value of every type, to the engine and to who looks a row up', async () => {
    const row = fc.tuple(...types.map((type) => fc.option(values[type] as fc.Arbitrary<unknown>, { freq: 4 })));
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 60 }), async (rows) => {
        const entries = rows.map((cells, i) => ({
          rowId: i + 5,
          op: 'I' as const,
          changed: [],
          before: null,
          cells: Object.fromEntries(cells.map((value, at) => [at + 1, textOf(types[at] as string, value)])),
        }));
        const { key } = await writeSegment(storage, 'acc/wb/tbl', columns, entries);
        const path = (await storage.blobs.open([key])).pathOf(key);
        const wanted = entries.map((entry) => types.map((type, at) => asRead(type, entry.cells[at + 1])));
        const read = await readByEngine(path);
        expect(read.map((cells) => cells.map((text, at) => asRead(types[at] as string, text as string | null)))).toEqual(wanted);
        const few = findRows(path, [5, 4 + rows.length], { id: rowIdColumn, isKnown: () => true });
        const last = few?.get(4 + rows.length);
        expect(types.map((type, at) => asRead(type, last?.[innerName(at + 1)]))).toEqual(wanted.at(-1));
      }),
      { numRuns: 80 },
    );
  });

  it('is in row groups of a bounded size, with bounds of what it holds', async () => {
    const rows = 45_000;
    const entries = Array.from({ length: rows }, (_, i) => ({
      rowId: i + 1,
      op: 'I' as const,
      changed: [],
      before: null,
      cells: { 5: String(i - 10), 6: '2024-02-29' },
    }));
    const { key } = await writeSegment(storage, 'acc/wb/tbl', columns, entries);
    const path = (await storage.blobs.open([key])).pathOf(key);
    const found = await storage.engine.use((connection) =>
      readAll(
        connection,
        `SELECT row_group_num_rows, stats_min_value, stats_max_value FROM parquet_metadata(${quoteText(path)}) WHERE path_in_schema = 'c5' ORDER BY row_group_id`,
      ),
    );
    expect(found).toEqual([
      [20480n, '-10', '20469'],
      [20480n, '20470', '40949'],
      [4040n, '40950', '44989'],
    ]);
    const counted = await storage.engine.use((connection) =>
      readAll(connection, `SELECT count(*), max(c6) FROM read_parquet(${quoteText(path)}) WHERE c5 > 44000`),
    );
    expect(counted.map((cells) => cells.map(String))).toEqual([['989', '2024-02-29']]);
  });
});
