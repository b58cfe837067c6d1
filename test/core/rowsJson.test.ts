import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { castValue, Refusal } from '../../core/cells/castValue.ts';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { type GivenRow, LongNumber } from '../../core/cells/givenRow.ts';
import { parseExactly } from '../../core/cells/jsonReader.ts';
import { parseRowsJson } from '../../core/cells/rowsJson.ts';

/** Numbers as doubles. */
function roundAll(value: unknown): unknown {
  if (value instanceof LongNumber) return Number(value.text);
  if (Array.isArray(value)) return value.map(roundAll);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, roundAll(item)]));
}

/** As JSON.parse would give it: rows as objects, numbers as doubles. */
function asPlain(parsed: Record<string, unknown>): unknown {
  const rows = (parsed.rows as GivenRow[]).map(({ names, values }) =>
    Object.fromEntries(names.map((name, i) => [name, roundAll(values[i])])),
  );
  return { ...parsed, rows };
}

function parsePlain(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const name = fc.oneof(fc.constantFrom('a', 'b', '金額', '__svc_row_id', '', 'say "x"', '__proto__'), fc.string({ unit: 'grapheme' }));
const cell = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.maxSafeInteger(),
  fc.string({ unit: 'grapheme' }),
  fc.boolean(),
  fc.constant(null),
  fc.jsonValue({ maxDepth: 2 }),
);
const row = fc.dictionary(name, cell, { noNullPrototype: true });
const body = fc
  .record(
    { expected_version: fc.option(fc.nat()), actor: fc.string(), rows: fc.array(row), rebase: fc.boolean() },
    { requiredKeys: ['rows'] },
  )
  .chain((value) => fc.constantFrom(JSON.stringify(value), JSON.stringify(value, null, 2), JSON.stringify(value, null, '\t')));

describe('parseRowsJson: the JSON of rows', () => {
  it('is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(body, (text) => {
        const parsed = parseRowsJson(text);
        // What it leaves to JSON.parse is rare: a text that could name `rows` once more.
        if (parsed) expect(asPlain(parsed)).toEqual(JSON.parse(text));
        else expect(text.slice(text.lastIndexOf(']'))).toMatch(/rows|\\/);
      }),
      { numRuns: 500 },
    );
  });

  it('is never read where JSON.parse refuses it, whatever was done to the text', () => {
    const damage = fc.tuple(
      fc.nat(),
      fc.nat(3),
      fc.constantFrom('', ',', '"', '\\', '{', '}', '[', ']', ':', '0', '-', '.', 'e', 'x', '\n', '\u0001', ' '),
    );
    fc.assert(
      fc.property(body, fc.array(damage, { minLength: 1, maxLength: 3 }), (text, damages) => {
        let broken = text;
        for (const [at, length, put] of damages) {
          const place = at % (broken.length + 1);
          broken = broken.slice(0, place) + put + broken.slice(place + length);
        }
        const parsed = parseRowsJson(broken);
        if (!parsed) return;
        const plain = parsePlain(broken);
        expect(plain).toBeDefined();
        // A name that comes twice in a row is kept twice, for the caller to hear of it.
        const isDoubled = (parsed.rows as GivenRow[]).some(({ names }) => new Set(names).size < names.length);
        if (!isDoubled) expect(asPlain(parsed)).toEqual(plain);
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ['{"rows":[{"a":01}]}'],
    ['{"rows":[{"a":1.}]}'],
    ['{"rows":[{"a":.5}]}'],
    ['{"rows":[{"a":-}]}'],
    ['{"rows":[{"a":1e}]}'],
    ['{"rows":[{"a":+1}]}'],
    ['{"rows":[{"a":NaN}]}'],
    ['{"rows":[{"a":tru}]}'],
    ['{"rows":[{"a":"\t"}]}'],
    ['{"rows":[{"a":"\\x"}]}'],
    ['{"rows":[{"a":1,}]}'],
    ['{"rows":[{"a":1},]}'],
    ['{"rows":[{"a":[1}]}'],
    ['{"rows":[{"a":1}]'],
    ['{"rows":[{"a":1}]}}'],
    ['{"rows":[{"a" 1}]}'],
    ['{"rows":[{a:1}]}'],
    ['{"rows":{"a":1}}'],
    ['{"rows":[1]}'],
    ['{"rows":[{"a":1}],"rows":[]}'],
    ['{"rows":[{"a":1}],"r\\u006fws":[]}'],
    ['{"rows":[{"a":"\\u0000"}]}'],
    ['{"rows":[{"a\\ud800":1}]}'],
    [`{"rows":[{"a":${'['.repeat(200)}${']'.repeat(200)}}]}`],
    ['[]'],
    ['{}'],
    [''],
  ])('leaves %s to JSON.parse and to those who say what is wrong', (text) => {
    expect(parseRowsJson(text)).toBeNull();
  });

  it('shares the list of names between rows alike, and begins another where a row departs', () => {
    const rows = parseRowsJson('{"rows":[{"a":1,"b":2},{"a":3,"b":4},{"a":5},{"b":6},{},{"b":7,"c":8}]}')?.rows as GivenRow[];
    expect(rows[0]?.names).toBe(rows[1]?.names);
    expect(rows.map(({ names, values }) => [names, values])).toEqual([
      [
        ['a', 'b'],
        [1, 2],
      ],
      [
        ['a', 'b'],
        [3, 4],
      ],
      [['a'], [5]],
      [['b'], [6]],
      [[], []],
      [
        ['b', 'c'],
        [7, 8],
      ],
    ]);
  });
});

describe('parseRowsJson: a JSON number keeps every digit, or is refused', () => {
  it.each([
    ['BIGINT', '9007199254740991', '9007199254740991'],
    ['BIGINT', '5.0000000000000000000', '5'],
    ['BIGINT', '9007199254740992', null],
    ['BIGINT', '9007199254740993', null],
    ['BIGINT', '5.00000000000000000001', null],
    ['DECIMAL(38,20)', '0.1234567890123450000000', '0.12345678901234500000'],
    ['DECIMAL(38,20)', '0.10000000000000000001', null],
    ['DECIMAL(38,20)', '1e-400', null],
    ['DECIMAL(18,2)', '1e999999999', null],
    ['DOUBLE', '0.30000000000000004', '0.30000000000000004'],
    ['DOUBLE', '0.1000000000000000055511151231257827', '0.1'],
    ['DOUBLE', '1e400', null],
    ['VARCHAR', '0.30000000000000004', '0.30000000000000004'],
    ['VARCHAR', '12345678901234567890', null],
    ['VARCHAR', '0.10000000000000000001', null],
    ['JSON', '0.30000000000000004', '0.30000000000000004'],
    ['JSON', '0.10000000000000000001', null],
    ['BOOLEAN', '12345678901234567891', null],
    ['DATE', '12345678901234567891', null],
  ])('%s %s: %j', (type, number, text) => {
    const rows = parseRowsJson(`{"rows":[{"a":${number}}]}`)?.rows as GivenRow[] | undefined;
    const found = castValue(parseColumnType(type) as ColumnType, rows?.[0]?.values[0]);
    if (text === null) expect(found).toBeInstanceOf(Refusal);
    else expect(found).toBe(text);
  });
});

describe('parseExactly: any JSON', () => {
  it('is read as JSON.parse reads it', () => {
    const value = fc.oneof(fc.jsonValue(), fc.array(fc.double({ noNaN: true, noDefaultInfinity: true })), fc.dictionary(name, cell));
    const text = fc.tuple(value, fc.constantFrom(undefined, 2, '\t')).map(([each, space]) => JSON.stringify(each, null, space));
    fc.assert(
      fc.property(text, (each) => {
        expect(roundAll(parseExactly(each))).toEqual(JSON.parse(each));
      }),
    );
  });

  it.each(['1234567890.00000000001', '0.1000000000000000055511151231257827', '9007199254740993', '1e400', '1e-400'])(
    'keeps %s as it was written, wherever it stands',
    (text) => {
      const kept = new LongNumber(text);
      expect(parseExactly(text)).toEqual(kept);
      expect(parseExactly(`{"a": [1, ${text}], "b":{"c":-${text}}}`)).toEqual({ a: [1, kept], b: { c: new LongNumber(`-${text}`) } });
    },
  );

  it.each(['0.30000000000000004', '1.2345678901234566e-07', '1.2345678901234566E-7', '1.2345678901234568E22', '1e5', '"9007199254740993"'])(
    '%s is what it is as a double or text',
    (text) => expect(parseExactly(`[${text}]`)).toEqual([JSON.parse(text)]),
  );
});

describe('parseExactly: JSON whose numbers keep their digits', () => {
  it('is otherwise what JSON.parse gives, with any character in it', () => {
    const anything = fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 });
    fc.assert(
      fc.property(anything, fc.constantFrom(undefined, 1), (value, indent) => {
        const text = JSON.stringify(['\u0000 \ud800', value, 0.1234567890123456], null, indent);
        expect(roundAll(parseExactly(text))).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });
});
