import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PartOpener, type RowSource, valueLength } from '../../store/duckdb/formats/rowParts.ts';

interface Span {
  min: number;
  max: number;
}

let instance: DuckDBInstance;
let connection: DuckDBConnection;
let released = 0;

beforeAll(async () => {
  instance = await DuckDBInstance.create(':memory:');
  connection = await instance.connect();
  // Short rows, then a few long ones.
  await connection.run("CREATE TABLE t AS SELECT i, repeat('x', CASE WHEN i % 100 > 96 THEN 1000 ELSE 1 END) AS s FROM range(1, 201) r(i)");
});
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

const source = (more: Partial<RowSource<Span>> = {}): RowSource<Span> => ({
  columns: [],
  spans: [
    { min: 1, max: 100 },
    { min: 101, max: 200 },
  ],
  async open(_, { min, max }) {
    return {
      from: `(SELECT * FROM t WHERE i BETWEEN ${min} AND ${max})`,
      async release() {
        released += 1;
      },
    };
  },
  select: (from) => `SELECT i FROM ${from} ORDER BY i`,
  place: 'i',
  lengths: [...valueLength('i', 'BIGINT'), ...valueLength('s', 'VARCHAR')],
  divide(_, counts, places) {
    let before = 0;
    return counts.map((count) => {
      before += count;
      return { min: places[before - count] as number, max: places[before - 1] as number };
    });
  },
  ...more,
});

async function readParts(given: RowSource<Span>, partBytes: number): Promise<number[][]> {
  const parts = new PartOpener(given, partBytes);
  const read: number[][] = [];
  for (let part = await parts.next(connection); part !== null; part = await parts.next(connection)) {
    read.push((await connection.runAndReadAll(part.sql)).getRows().map(([i]) => Number(i)));
    await part.release();
  }
  return read;
}

const all = Array.from({ length: 200 }, (_, i) => i + 1);

describe('parts of rows', () => {
  it.each([
    [10_000, [100, 100]],
    [2_100, [98, 2, 98, 2]],
    [1_000, [96, 1, 1, 1, 1, 96, 1, 1, 1, 1]],
  ])('hold no more than %i bytes, unless a row alone does', async (bytes, sizes) => {
    const parts = await readParts(source(), bytes);
    expect(parts.map(({ length }) => length)).toEqual(sizes);
    expect(parts.flat()).toEqual(all);
  });

  it('keep the order of a span', async () => {
    const wanted = [200, 3, 199, 1];
    const listed = source({
      spans: [{ min: 1, max: 200 }],
      arrange: () => wanted,
      divide: (_, counts, places) => {
        expect([counts, places]).toEqual([[2, 1, 1], wanted]);
        return [];
      },
    });
    expect(await readParts(listed, 1_000)).toEqual([]);
  });

  it('are refused where all come to too much, and nothing stays open', async () => {
    released = 0;
    const most = { bytes: 5_000, refuse: () => new Error('too much') };
    await expect(readParts(source({ most }), 10_000)).rejects.toThrow('too much');
    expect(released).toBe(2);
  });
});
