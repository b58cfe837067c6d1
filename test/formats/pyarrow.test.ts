import { spawnSync } from 'node:child_process';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, it } from 'vitest';
import { streamRows } from '../../store/duckdb/formats/streamRows.ts';
import { collect } from './readBack.ts';

/** Runs where python3 has pyarrow; the other tests read with Arrow's own JavaScript reader. */
const hasPyarrow = spawnSync('python3', ['-c', 'import pyarrow']).status === 0;

const script = `
import sys, json, pyarrow as pa
table = pa.ipc.open_stream(sys.stdin.buffer).read_all()
table.validate(full=sys.argv[1] == 'full')
rows = table.to_pylist() if sys.argv[1] == 'full' else []
print(json.dumps({'types': [str(f.type) for f in table.schema], 'names': table.schema.names, 'count': table.num_rows,
  'first': [str(v) for v in rows[0].values()] if rows else None, 'nulls': [c.null_count for c in table.columns]}))
`;

function readWithPyarrow(bytes: Buffer, check: 'full' | 'quick') {
  const run = spawnSync('python3', ['-c', script, check], { input: bytes, maxBuffer: 1 << 28 });
  if (run.status !== 0) throw new Error(run.stderr.toString());
  return JSON.parse(run.stdout.toString());
}

it.skipIf(!hasPyarrow)('pyarrow reads every type and finds it valid', async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const columns: [sql: string, type: string, shown: string][] = [
    ['true', 'bool', 'True'],
    ['(-128)::TINYINT', 'int8', '-128'],
    ['(-32768)::SMALLINT', 'int16', '-32768'],
    ['7::INTEGER', 'int32', '7'],
    ['(-9223372036854775808)::BIGINT', 'int64', '-9223372036854775808'],
    ['18446744073709551615::UBIGINT', 'uint64', '18446744073709551615'],
    ['99999999999999999999999999999999999999::HUGEINT', 'decimal128(38, 0)', '99999999999999999999999999999999999999'],
    ['0.5::FLOAT', 'float', '0.5'],
    ['0.1::DOUBLE', 'double', '0.1'],
    ['-1.50::DECIMAL(4,2)', 'decimal128(4, 2)', '-1.50'],
    ['-123456.789::DECIMAL(9,3)', 'decimal128(9, 3)', '-123456.789'],
    ['-123456.789::DECIMAL(18,3)', 'decimal128(18, 3)', '-123456.789'],
    ['-9999999999999999999999999999.9999999999::DECIMAL(38,10)', 'decimal128(38, 10)', '-9999999999999999999999999999.9999999999'],
    ["DATE '1969-07-20'", 'date32[day]', '1969-07-20'],
    ["TIME '23:59:59.999999'", 'time64[us]', '23:59:59.999999'],
    ["TIMESTAMP '1969-12-31 23:59:59.5'", 'timestamp[us]', '1969-12-31 23:59:59.500000'],
    ["TIMESTAMPTZ '2024-01-02 03:04:05+00'", 'timestamp[us, tz=UTC]', '2024-01-02 03:04:05+00:00'],
    ["'日本語 😀'", 'string', '日本語 😀'],
    ["'\\xFF\\x00'::BLOB", 'binary', "b'\\xff\\x00'"],
    ['\'{"a": 1}\'::JSON', 'string', '{"a":1}'],
    ['[1, NULL]', 'string', '[1,null]'],
    ["{'a': 1.50}", 'string', '{"a":"1.50"}'],
    ["'6f9619ff-8b86-d011-b42d-00c04fc964ff'::UUID", 'string', '6f9619ff-8b86-d011-b42d-00c04fc964ff'],
  ];
  const list = columns.map(([sql], i) => `CASE WHEN i = 0 THEN ${sql} WHEN i % 3 = 0 THEN NULL ELSE ${sql} END AS c${i}`);
  const bytes = await collect(streamRows(connection, `SELECT ${list.join(', ')} FROM range(5000) t(i)`, undefined, 'arrow'));
  const read = readWithPyarrow(bytes, 'full');
  expect(read.types).toEqual(columns.map(([, type]) => type));
  expect(read.first).toEqual(columns.map(([, , shown]) => shown));
  expect(read.count).toBe(5000);
  expect(new Set(read.nulls)).toEqual(new Set([1666]));
  const empty = readWithPyarrow(await collect(streamRows(connection, 'SELECT 1 AS a, NULL AS b WHERE false', undefined, 'arrow')), 'full');
  expect(empty).toMatchObject({ count: 0, names: ['a', 'b'] });
  connection.closeSync();
});
