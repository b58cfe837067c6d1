import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rowIdColumn } from '../../core/table/table.ts';
import { scanFileRows } from '../../store/duckdb/fileRows.ts';
import { quoteText } from '../../store/duckdb/relation.ts';
import { findRange, findRows } from '../../store/parquet/findRows.ts';
import { openColumn, ParquetFile } from '../../store/parquet/parquetFile.ts';
import { useParquetFolder } from './folder.ts';

const { engine, newPath } = await useParquetFolder();

const columns = { id: rowIdColumn, isKnown: (name: string) => /^(__svc_row_id|__svc_op|c\d+)$/.test(name) };

async function writeFile(select: string, options = 'ROW_GROUP_SIZE 20480, COMPRESSION uncompressed'): Promise<string> {
  const path = newPath();
  await engine.use((connection) => connection.run(`COPY (${select}) TO ${quoteText(path)} (FORMAT parquet, ${options})`));
  return path;
}

type Rows = Map<number, Record<string, string | null>>;

/** In one order, and with doubles as numbers: one may be spelled in several ways. */
function spell(rows: Rows | null, doubles: string[]) {
  const read = (name: string, text: string | null) =>
    text !== null && doubles.includes(name) ? Number(text.replace(/inf$/, 'Infinity')) : text;
  return (
    rows &&
    [...rows]
      .sort(([a], [b]) => a - b)
      .map(([id, row]) => [id, Object.fromEntries(Object.entries(row).map(([name, text]) => [name, read(name, text)]))])
  );
}

/** What both readers say of the rows. */
async function readBoth(path: string, ids: number[], doubles: string[] = []) {
  return {
    few: spell(findRows(path, ids, columns), doubles),
    engine: spell(await engine.use((connection) => scanFileRows(connection, path, ids)), doubles),
  };
}

async function readRangeBoth(path: string, min: number, max: number, doubles: string[] = []) {
  const ids = Array.from({ length: max - min + 1 }, (_, i) => min + i);
  return {
    few: spell(findRange(path, { min, max }, columns, columns.isKnown), doubles),
    engine: spell(await engine.use((connection) => scanFileRows(connection, path, ids)), doubles),
  };
}

/** Every type that a column may have, many values of each: edges, nulls, repeated ones and ones of their own. */
const types: Record<string, string[]> = {
  VARCHAR: [`'text ' || i`, `'品目' || (i % 7)`, `repeat('é😀', (i % 50)::INT)`, `CASE WHEN i % 3 = 0 THEN '' WHEN i % 3 = 1 THEN 'x' END`],
  BIGINT: [
    'i * 7',
    'CASE WHEN i % 2 = 0 THEN -9223372036854775808 ELSE 9223372036854775807 END',
    'i % 5',
    'CASE WHEN i % 1000 = 5 THEN 1 END',
  ],
  DOUBLE: [
    'i / 3',
    `CASE i % 6 WHEN 0 THEN 'nan' WHEN 1 THEN 'inf' WHEN 2 THEN '-inf' WHEN 3 THEN '-0.0' WHEN 4 THEN '5e-324' END`,
    'i * 1e300',
  ],
  BOOLEAN: ['i % 2 = 0', 'CASE WHEN i % 3 > 0 THEN i % 3 = 1 END', 'true'],
  DATE: [
    `DATE '0001-01-01' + (i * 31)::INTEGER`,
    `DATE '9999-12-31' - (i % 90)::INTEGER`,
    `CASE WHEN i % 2 = 0 THEN DATE '1969-12-31' END`,
  ],
  TIMESTAMP: [
    `TIMESTAMP '1969-12-31 23:59:59.999999' - to_microseconds(i * 86400000001)`,
    `TIMESTAMP '2024-02-29 12:00:00' + to_milliseconds(i % 3 * 100)`,
  ],
  TIME: [`TIME '00:00:00' + to_microseconds(i * 3600001)`, `TIME '23:59:59.999999'`],
  JSON: [`json_object('a', i, 'b', 'ü')`, `'null'`],
  'DECIMAL(4,2)': ['(i % 9000 - 4500) / 100'],
  'DECIMAL(9,0)': ['i - 100'],
  'DECIMAL(18,4)': ['(i * 7919 - 50000) / 10000', 'CASE WHEN i % 4 = 0 THEN -0.0001 END'],
  'DECIMAL(38,10)': [`CASE WHEN i % 2 = 0 THEN '-9999999999999999999999999999.9999999999' ELSE '12345678901234567890.5' END`, 'i / 7'],
};
const cases = Object.entries(types).flatMap(([type, list]) => list.map((sql) => ({ type, sql })));
const doubles = cases.flatMap(({ type }, i) => (type === 'DOUBLE' ? [`c${i}`] : []));
const all = cases.map(({ type, sql }, i) => `CAST(${sql} AS ${type}) AS c${i}`).join(', ');

describe('findRows and findRange', () => {
  it.each([
    ['one group without gaps', 1_000, 'i'],
    ['several groups', 50_000, 'i'],
    ['gaps between the ids', 30_000, 'i * 3 + i % 2'],
    ['one row', 1, '5'],
    ['small groups', 5_000, 'i', 'ROW_GROUP_SIZE 2048, COMPRESSION uncompressed'],
  ])('are what the engine says they are: %s', async (_, rows, id, options = 'ROW_GROUP_SIZE 20480, COMPRESSION uncompressed') => {
    const path = await writeFile(`SELECT ${id} AS ${rowIdColumn}, ${all} FROM range(1, ${rows + 1}) AS r(i)`, options);
    const wanted = Array.from({ length: 40 }, (_unused, n) => (n < 8 ? n + 1 : 1 + ((n * 7919) % (rows * 3))));
    wanted.push(rows, rows + 1, rows * 3);
    const both = await readBoth(path, [...new Set(wanted)], doubles);
    expect(both.few?.length).toBeGreaterThan(0);
    expect(both.few).toEqual(both.engine);
    const spans = [1, 2, 2047, 2048, 20_480, 30_000, rows - 5, rows].map((start) => Math.max(1, start));
    for (const [i, start] of spans.entries()) {
      const ranges = await readRangeBoth(path, start, start + ([0, 1, 7, 8, 99, 100, 500, 2500][i] ?? 0), doubles);
      expect(ranges.few).toEqual(ranges.engine);
    }
  });

  it('are found whatever the values and the places of nulls are', async () => {
    const text = fc.option(fc.oneof(fc.constantFrom('', 'x', '日本語'), fc.string({ unit: 'grapheme', maxLength: 30 })), { freq: 3 });
    const row = fc.tuple(fc.integer({ min: 1, max: 3 }), text, fc.option(fc.maxSafeInteger()), fc.option(fc.double()));
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 300 }), fc.infiniteStream(fc.nat(400)), async (rows, picks) => {
        let id = 0;
        const lines = rows.map(([gap, a, b, c]) => {
          id += gap;
          const sql = (value: unknown) => (value === null ? 'NULL' : quoteText(String(value).replaceAll('\0', '')));
          return `(${id}, ${sql(a)}, ${sql(b)}, ${sql(c)})`;
        });
        const path = await writeFile(
          `SELECT v.id::BIGINT AS ${rowIdColumn}, v.a::VARCHAR AS c1, v.b::BIGINT AS c2, v.c::DOUBLE AS c3 FROM (VALUES ${lines.join(', ')}) AS v(id, a, b, c)`,
        );
        const both = await readBoth(path, [...new Set(Array.from({ length: 12 }, () => picks.next().value as number))], ['c3']);
        expect(both.few).toEqual(both.engine);
        const min = picks.next().value as number;
        const ranges = await readRangeBoth(path, min, min + (picks.next().value as number), ['c3']);
        expect(ranges.few).toEqual(ranges.engine);
      }),
      { numRuns: 60 },
    );
  });

  it('are found in files that we wrote ourselves, and in deltas', async () => {
    const path = newPath();
    const file = await ParquetFile.create(path);
    for (const first of [1, 101]) {
      const [id, t] = [
        openColumn({ fieldId: 0, name: rowIdColumn, type: 'BIGINT' }),
        openColumn({ fieldId: 1, name: 'c1', type: 'VARCHAR' }),
      ];
      for (let i = 0; i < 100; i += 1) {
        id.values.add(first + i);
        if (i % 3 > 0) t.values.putString(i, `値 ${i}`);
      }
      await file.writeGroup(100, [id, t]);
    }
    await file.finish({});
    const own = await readBoth(path, [1, 2, 3, 99, 100, 101, 150, 200, 201]);
    expect(own.few).toEqual(own.engine);
    expect(own.few?.length).toBe(8);
    const delta = await writeFile(
      `SELECT i * 2 AS ${rowIdColumn}, CASE WHEN i % 2 = 0 THEN 'D' ELSE 'U' END AS __svc_op, [1, 2] AS __svc_changed, '{}' AS __svc_before, i AS c1 FROM range(1, 1200) AS r(i)`,
    );
    const both = await readBoth(delta, [2, 3, 4, 1000, 2398, 2399]);
    expect(both.few).toEqual(both.engine);
    expect(both.few?.length).toBe(4);
    for (const [read, min, max] of [
      [path, 95, 105],
      [delta, 3, 300],
      [delta, 2000, 4000],
      [delta, 5000, 6000],
    ] as const) {
      const ranges = await readRangeBoth(read, min, max);
      expect(ranges.few).toEqual(ranges.engine);
    }
    const named = findRange(delta, { min: 1, max: 2 }, columns, (name) => name === 'c1');
    expect([...(named ?? [])]).toEqual([[2, { [rowIdColumn]: '2', c1: '1' }]]);
  });

  it('are left to the engine where it must read them', async () => {
    const far = await writeFile(`SELECT i AS ${rowIdColumn}, DATE '10000-01-01' AS c1 FROM range(1, 3) AS r(i)`);
    const packed = await writeFile(`SELECT i AS ${rowIdColumn} FROM range(1, 3) AS r(i)`, 'COMPRESSION zstd');
    const odd = await writeFile(`SELECT i AS ${rowIdColumn}, INTERVAL 1 DAY AS c1 FROM range(1, 3) AS r(i)`);
    const unordered = await writeFile(`SELECT 6 - i AS ${rowIdColumn}, i AS c1 FROM range(1, 6) AS r(i)`);
    const gaps = await writeFile(`SELECT 60 - i * 9 AS ${rowIdColumn}, i AS c1 FROM range(1, 6) AS r(i)`);
    for (const path of [far, packed, odd, unordered]) expect(findRows(path, [1], columns)).toBeNull();
    expect(findRows(gaps, [51], columns)).toBeNull();
    for (const path of [far, packed, odd, unordered]) expect(findRange(path, { min: 1, max: 2 }, columns, columns.isKnown)).toBeNull();
    expect(findRange(gaps, { min: 20, max: 51 }, columns, columns.isKnown)).toBeNull();
  });
});
