import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAll } from '../../store/duckdb/engine.ts';
import { quoteText } from '../../store/duckdb/relation.ts';
import { TextColumn } from '../../store/parquet/columnEncoders.ts';
import { EncodedTexts } from '../../store/parquet/encodedTexts.ts';
import { type GroupColumn, openColumn, ParquetFile } from '../../store/parquet/parquetFile.ts';
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
