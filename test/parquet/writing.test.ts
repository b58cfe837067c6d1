import { stat } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ColumnType } from '../../core/cells/columnTypes.ts';
import { readAll } from '../../store/duckdb/engine.ts';
import { quoteText } from '../../store/duckdb/relation.ts';
import { EncodedTexts } from '../../store/parquet/encodedTexts.ts';
import { type GroupColumn, openColumn, ParquetFile } from '../../store/parquet/parquetFile.ts';
import { storeType } from '../../store/parquet/storedTypes.ts';
import { TextColumn } from '../../store/parquet/textColumn.ts';
import { useParquetFolder } from './folder.ts';

const { engine, newPath } = await useParquetFolder();

type Group = Map<number, (string | null)[]>;

/** Texts by column; every group has an id for each row as well. */
async function writeFile(groups: Group[], shared = false): Promise<string> {
  const path = newPath();
  const file = await ParquetFile.create(path);
  let id = 0;
  for (const group of groups) {
    const rows = Math.max(...[...group.values()].map((texts) => texts.length));
    const ids = openColumn({ fieldId: 0, name: 'id', type: 'BIGINT' });
    for (let i = 0; i < rows; i += 1) ids.values.add(id++ - 5_000_000_000);
    const columns: GroupColumn[] = [ids];
    for (const [fieldId, texts] of group) {
      const column = openColumn({ fieldId, name: `c${fieldId}`, type: 'VARCHAR' });
      const encoded = new EncodedTexts();
      encoded.begin(texts.map((text) => text ?? ''));
      texts.forEach((text, row) => {
        if (text !== null && shared) encoded.put(column.values, row, texts.indexOf(text));
        else if (text !== null) column.values.putString(row, text);
      });
      columns.push(column);
    }
    await file.writeGroup(rows, columns);
  }
  await file.finish({ mark: 'x' });
  return path;
}

const read = (path: string, columns: string) =>
  engine.use((connection) => readAll(connection, `SELECT ${columns} FROM read_parquet(${quoteText(path)}) ORDER BY id`));

describe('EncodedTexts: a Parquet file', () => {
  it('gives back whatever texts and nulls were put into it', async () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 70 }), fc.constant('x'.repeat(3000)), fc.constant('語'.repeat(40)));
    const group = fc.array(fc.option(text, { freq: 2 }), { minLength: 1, maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(fc.array(group, { minLength: 1, maxLength: 4 }), fc.boolean(), async (groups, shared) => {
        const path = await writeFile(
          groups.map((texts) => new Map([[1, texts]])),
          shared,
        );
        const expected = groups.flat().map((value, i) => [BigInt(i) - 5_000_000_000n, value]);
        expect(await read(path, 'id, c1')).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  it.each([1, 2, 15, 16, 63, 64, 300, 5000])('keeps the places of values that stand far apart: every %ith', async (step) => {
    const texts = Array.from({ length: 20_480 }, (_, i) => (i % step === step - 1 ? String(i) : null));
    const path = await writeFile([new Map([[1, texts]])]);
    expect(await read(path, 'c1')).toEqual(texts.map((value) => [value]));
  });

  it.each([1, 2, 3, 255, 257, 4096, 4097, 9000])('writes texts that come again once: %i of them', async (count) => {
    const texts = Array.from({ length: 20_480 }, (_, i) => `text ${(i * 7919) % count}`);
    const plain = await writeFile([new Map([[1, texts]])]);
    const shared = await writeFile([new Map([[1, texts]])], true);
    expect(await read(shared, 'c1')).toEqual(texts.map((value) => [value]));
    const sizes = await Promise.all([plain, shared].map(async (path) => (await stat(path)).size));
    // Of more than are remembered, the first are written once.
    if (count <= 4096) expect(sizes[1]).toBeLessThan((sizes[0] as number) / 2 + count * 15);
    else expect(sizes[1]).toBeLessThanOrEqual(sizes[0] as number);
  });

  it('takes columns that only some of its groups have', async () => {
    const path = await writeFile([new Map([[2, ['a', 'b']]]), new Map([[1, ['c']]]), new Map([[9, [null, 'd']]])]);
    expect(await read(path, 'c1, c2, c9')).toEqual([
      [null, 'a', null],
      [null, 'b', null],
      ['c', null, null],
      [null, null, null],
      [null, null, 'd'],
    ]);
  });

  it('says its field ids, bounds, counts of nulls and marks', async () => {
    const path = quoteText(await writeFile([new Map([[7, ['a', null, null]]])]));
    const rows = (sql: string) => engine.use((connection) => readAll(connection, sql));
    expect(await rows(`SELECT name, type, field_id FROM parquet_schema(${path}) WHERE name <> 'schema'`)).toEqual([
      ['id', 'INT64', 0n],
      ['c7', 'BYTE_ARRAY', 7n],
    ]);
    expect(await rows(`SELECT stats_min_value, stats_max_value, stats_null_count FROM parquet_metadata(${path})`)).toEqual([
      ['-5000000000', '-4999999998', 0n],
      [null, null, 2n],
    ]);
    expect(await rows(`SELECT key::VARCHAR, value::VARCHAR FROM parquet_kv_metadata(${path})`)).toEqual([['mark', 'x']]);
  });
});

describe('a column of values', () => {
  it.each<[string, ColumnType, string[], [string | null, string | null]]>([
    ['texts', { kind: 'VARCHAR' }, ['b', 'ab', 'ábc', 'abc', 'a', 'b'], ['a', 'ábc']],
    ['texts that begin alike', { kind: 'VARCHAR' }, ['商品-0002', '商品-00011', '商品-0001', '商品-0001'], ['商品-0001', '商品-0002']],
    ['an empty text', { kind: 'VARCHAR' }, ['x', ''], ['', 'x']],
    ['a long text', { kind: 'VARCHAR' }, ['x', 'y'.repeat(257)], [null, null]],
    ['doubles', { kind: 'DOUBLE' }, ['0.5', '-1.25', '3e300'], ['-1.25', '3e+300']],
    ['no number', { kind: 'DOUBLE' }, ['0.5', 'nan', '1'], [null, null]],
    ['no end', { kind: 'DOUBLE' }, ['0.5', 'inf', '1'], [null, null]],
  ])('says its bounds: %s', async (_, type, texts, bounds) => {
    const path = newPath();
    const file = await ParquetFile.create(path);
    const column = openColumn({ fieldId: 1, name: 'c', type: storeType(type) });
    for (const [row, text] of texts.entries()) column.values.putString(row, text);
    await file.writeGroup(texts.length, [column]);
    await file.finish({});
    const stats = (sql: string) => engine.use((connection) => readAll(connection, sql));
    expect(await stats(`SELECT stats_min_value, stats_max_value FROM parquet_metadata(${quoteText(path)})`)).toEqual([bounds]);
    const value = type.kind === 'DOUBLE' ? texts[0] : quoteText(texts[0] as string);
    expect(await stats(`SELECT count(*) > 0 FROM read_parquet(${quoteText(path)}) WHERE c = ${value}`)).toEqual([[true]]);
  });
});

describe('a column of texts', () => {
  it('takes whole numbers as their digits', () => {
    const numbers = [0, -0, 7, 9, 10, 99, 100, 1_000_000, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1];
    const [digits, texts] = [new TextColumn(), new TextColumn()];
    numbers.forEach((number, row) => {
      digits.putWhole(row, number);
      texts.putString(row, String(number));
    });
    expect(digits.finish(numbers.length)).toEqual(texts.finish(numbers.length));
  });
});
