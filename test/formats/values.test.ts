import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowFormats } from '../../store/duckdb/formats/streamRows.ts';
import { jsonExpression } from '../../store/duckdb/json.ts';
import { parseTypeName } from '../../store/duckdb/typeNames.ts';
import { typeCases } from './cases.ts';
import { readRows } from './readBack.ts';

let connection: DuckDBConnection;

beforeAll(async () => {
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  connection = await instance.connect();
  // Nothing may depend on the zone of the session.
  await connection.run("SET TimeZone = 'Asia/Tokyo'");
});

afterAll(() => connection.closeSync());

describe.each(typeCases)('streamRows: values of $type', ({ type, values }) => {
  const literals = [...values.map(([sql]) => sql), 'NULL'].map((sql, i) => `SELECT ${i} AS i, CAST(${sql} AS ${type}) AS v`);
  const sql = `SELECT v FROM (${literals.join(' UNION ALL ')}) ORDER BY i`;
  const expected = [...values.map(([, json]) => ({ v: json })), { v: null }];

  it.each(rowFormats)('as %s', async (format) => {
    expect(await readRows(connection, sql, format)).toEqual(expected);
  });

  it.each(rowFormats)('as %s, all NULL', async (format) => {
    expect(await readRows(connection, `SELECT NULL::${type} AS v FROM range(3)`, format)).toEqual([{ v: null }, { v: null }, { v: null }]);
  });

  it('by the name of the type, as by the type', async () => {
    const reader = await connection.runAndReadAll(`SELECT v, typeof(v) FROM (SELECT NULL::${type} AS v)`);
    const [given] = reader.columnTypes();
    const named = reader.getRows()[0]?.[1] as string;
    expect(jsonExpression('v', named)).toBe(jsonExpression('v', given as NonNullable<typeof given>));
  });
});

describe('streamRows: columns', () => {
  const odd = ['x.y', 'quo"te', "quo'te", '😀', 'SELECT', 'a b', '日本語', '$1', '%s', '\\', ' ', 'constructor'];
  const list = ['a', 'A', 'a', 'a_2', ...odd].map((name, i) => `${i} AS "${name.replaceAll('"', '""')}"`);

  it.each(rowFormats)('of odd and of equal names survive as %s', async (format) => {
    const [row] = await readRows(connection, `SELECT ${list.join(', ')}`, format);
    expect(Object.entries(row as object)).toEqual(['a', 'A_3', 'a_4', 'a_2', ...odd].map((name, i) => [name, i]));
  });

  it.each(rowFormats)('200 of them as %s', async (format) => {
    const columns = Array.from({ length: 200 }, (_, i) => `(i + ${i})::${['BIGINT', 'VARCHAR', 'DOUBLE', 'DECIMAL(9,2)'][i % 4]} AS c${i}`);
    const rows = await readRows(connection, `SELECT ${columns.join(', ')} FROM range(3000) t(i)`, format);
    expect(rows).toHaveLength(3000);
    expect(rows[2999]).toMatchObject({ c0: 2999, c1: '3000', c2: 3001, c3: '3002.00', c199: '3198.00' });
  });
});

it('knows the type names that DuckDB gives, and no others', () => {
  expect(String(parseTypeName('STRUCT("a b" MAP(VARCHAR, DECIMAL(5,2)[]), c INTEGER[3][])[]'))).toBe(
    'STRUCT("a b" MAP(VARCHAR, DECIMAL(5,2)[]), "c" INTEGER[3][])[]',
  );
  for (const name of ['', 'NOPE', 'STRUCT(', 'INTEGER[', 'DECIMAL(5,2) x', 'INTEGER; DROP TABLE t'])
    expect(() => parseTypeName(name)).toThrow(/not a DuckDB type/);
});
