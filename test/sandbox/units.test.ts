import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DomainError } from '../../core/errors.ts';
import { describeQueryError, TimedOut, TooLarge } from '../../store/duckdb/sandbox/child/errors.ts';
import { matchParams, readParams } from '../../store/duckdb/sandbox/params.ts';
import { encodeHead, FrameReader } from '../../store/duckdb/sandbox/protocol.ts';
import { selectResult, storeColumn } from '../../store/duckdb/sandbox/resultTypes.ts';

describe('encodeHead and FrameReader', () => {
  it('come out as they went in, however they are cut', () => {
    const frame = fc.record({ header: fc.jsonValue(), body: fc.uint8Array({ maxLength: 300 }) });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 5 }), fc.integer({ min: 1, max: 64 }), (frames, cut) => {
        const bytes = Buffer.concat(frames.flatMap(({ header, body }) => [encodeHead(header, Buffer.byteLength(body)), Buffer.from(body)]));
        const reader = new FrameReader(1_000_000);
        const read = [];
        for (let at = 0; at < bytes.length; at += cut) read.push(...reader.push(bytes.subarray(at, at + cut)));
        expect(read.map(({ header, body }) => ({ header, body: [...body] }))).toEqual(
          frames.map(({ header, body }) => ({ header: JSON.parse(JSON.stringify(header)), body: [...body] })),
        );
      }),
    );
  });

  it('are refused when they are larger than agreed, before they are read', () => {
    expect(() => new FrameReader(100).push(encodeHead({ a: 1 }, 100).subarray(0, 8))).toThrow(/more than the 100 agreed/);
  });
});

describe('readParams and matchParams', () => {
  it('are taken by position or by name', () => {
    expect(readParams(undefined)).toEqual({});
    expect(readParams([1, 'a', [null, 2]])).toEqual({ 1: 1, 2: 'a', 3: [null, 2] });
    expect(readParams({ $a: true, b: null })).toEqual({ a: true, b: null });
    expect(readParams([2 ** 53 - 1, 0.1, 1e300])).toEqual({ 1: 2 ** 53 - 1, 2: 0.1, 3: 1e300 });
  });

  it.each([
    [[{}], '/params/0'],
    [[[[1]]], '/params/0'],
    [{ 'a/b': Number.NaN }, '/params/a~1b'],
    [{ x: 'a\ud800' }, '/params/x'],
    [[undefined], '/params/0'],
    [{ a: 1, $A: 2 }, '/params/$A'],
    [[2 ** 53], '/params/0'],
    [{ n: [1, -(2 ** 63)] }, '/params/n'],
  ] as [unknown[] | Record<string, unknown>, string][])('%j is refused', (params, pointer) => {
    expect(() => readParams(params)).toThrow(
      expect.objectContaining({ code: 'validation-failed', extras: { errors: [expect.objectContaining({ pointer })] } }),
    );
  });

  it('must be those of the query', () => {
    expect(() => matchParams(['1', 'Name'], { 1: 1, name: 2 })).not.toThrow();
    expect(() => matchParams(['a'], {})).toThrow(DomainError);
    expect(() => matchParams([], { a: 1 })).toThrow(/does not use/);
  });
});

describe('describeError: errors of the engine', () => {
  const engine = (type: string, message: string, more = {}) =>
    new Error(`X Error: ${JSON.stringify({ exception_type: type, exception_message: message, ...more })}`);

  it.each([
    [engine('Binder', 'no column x', { position: '7' }), { kind: 'failed', message: 'no column x', line: 1, column: 8 }],
    [engine('Out of Memory', 'failed to allocate 3GB (x/y used)'), { kind: 'too-large' }],
    [engine('Invalid Input', 'std::bad_alloc'), { kind: 'too-large' }],
    [engine('INTERRUPT', 'Interrupted!'), { kind: 'timeout' }],
    [engine('IO', "No files found that match '/in/open/0.parquet'"), { kind: 'broken' }],
    [engine('INTERNAL', 'Assertion'), { kind: 'broken' }],
    [engine('Invalid Input', "No magic bytes found at end of file '/in/open/0.parquet'"), { kind: 'broken' }],
    [engine('Invalid Input', 'TProtocolException: Invalid data'), { kind: 'broken' }],
    [new Error('std::bad_alloc'), { kind: 'too-large' }],
    [new TooLarge('too many rows'), { kind: 'too-large', message: 'too many rows' }],
    [new TimedOut('late'), { kind: 'timeout' }],
    [
      engine('Catalog', 'Table x does not exist!\nDid you mean "pg_enum"?', { error_subtype: 'MISSING_ENTRY' }),
      { kind: 'failed', message: 'Table x does not exist!' },
    ],
    [engine('Conversion', 'bad value in file "/in/open/0.parquet"\nUse SET x TO y'), { kind: 'failed', message: 'bad value in file "…"' }],
    [engine('Conversion', `long ${'x'.repeat(5000)}`), { kind: 'failed', message: expect.stringMatching(/^long x{995}…$/) }],
  ])('%s', (error, expected) => {
    expect(describeQueryError(error, 'SELECT x')).toMatchObject(expected);
  });
});

describe('selectResult and storeColumn', () => {
  it.each([
    ['BIGINT', 'v0 AS "a"'],
    ['HUGEINT', 'CAST(v0 AS VARCHAR) AS "a"'],
    ['HUGEINT[]', 'CAST(v0 AS VARCHAR[]) AS "a"'],
    ['STRUCT("x" INTERVAL, "y" BIGINT)', 'CAST(v0 AS STRUCT("x" VARCHAR, "y" BIGINT)) AS "a"'],
    ['MAP(VARCHAR, BIT)', 'CAST(v0 AS MAP(VARCHAR, VARCHAR)) AS "a"'],
    ['DECIMAL(18,3)', 'v0 AS "a"'],
    ['TIMESTAMP WITH TIME ZONE', 'v0 AS "a"'],
  ])('%s', (type, sql) => {
    expect(storeColumn({ name: 'a', type }, 'v0')).toBe(sql);
  });

  it('are read back by name and type', () => {
    expect(selectResult("/x/it's.parquet", [{ name: 'a"b', type: 'HUGEINT' }])).toBe(
      `SELECT CAST("a""b" AS HUGEINT) AS "a""b" FROM read_parquet('/x/it''s.parquet')`,
    );
  });
});
