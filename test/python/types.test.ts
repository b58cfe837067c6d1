import { describe, expect, it } from 'vitest';
import { usePython } from './world.ts';

/** Tables as frames, and frames as tables. */

const world = await usePython();

describe.skipIf(!world)('types', () => {
  const { run, refuse } = world as NonNullable<typeof world>;

  const every = `SELECT * FROM (VALUES
    (1, '東京', 9007199254740993, 1.5::DOUBLE, 12345678901234567890.1234::DECIMAL(38,4), true, DATE '2024-02-29', TIMESTAMP '1969-12-31 23:59:59.123456', TIME '23:59:59.999999', '{"a": [1]}'::JSON),
    (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (3, '', -9223372036854775808, -0.1, -0.0001, false, DATE '0001-01-01', TIMESTAMP '9999-12-31 00:00:00', TIME '00:00:00', 'null'::JSON)
  ) t(n, 文字, i, d, m, b, 日付, ts, tm, j)`;

  it('a table comes back as it went in, also without rows', async () => {
    const { columns, values } = await run('def transform(t):\n    return t', { t: every });
    expect(columns).toEqual([
      ['n', 'BIGINT'],
      ['文字', 'VARCHAR'],
      ['i', 'BIGINT'],
      ['d', 'DOUBLE'],
      ['m', 'DECIMAL(38,4)'],
      ['b', 'BOOLEAN'],
      ['日付', 'DATE'],
      ['ts', 'TIMESTAMP'],
      ['tm', 'TIME'],
      ['j', 'VARCHAR'],
    ]);
    expect(values.slice(1)).toEqual([
      ['東京', null, ''],
      ['9007199254740993', null, '-9223372036854775808'],
      ['1.5', null, '-0.1'],
      ['12345678901234567890.1234', null, '-0.0001'],
      ['true', null, 'false'],
      ['2024-02-29', null, '0001-01-01'],
      ['1969-12-31 23:59:59.123456', null, '9999-12-31 00:00:00'],
      ['23:59:59.999999', null, '00:00:00'],
      ['{"a":[1]}', null, 'null'],
    ]);
    const empty = await run('def transform(t):\n    return t[t.n > 5]', { t: every });
    expect(empty).toMatchObject({ columns, rowCount: 0 });
  });

  it('gives frames the documented types', async () => {
    const { values } = await run(
      "def transform(t):\n    return pd.DataFrame({'type': [str(d) for d in t.dtypes], 'missing': [str(v) for v in t.iloc[1]]})",
      { t: every },
    );
    expect(values[0]).toEqual([
      'Int64',
      'string',
      'Int64',
      'float64',
      'decimal128(38, 4)[pyarrow]',
      'boolean',
      'date32[day][pyarrow]',
      'datetime64[us]',
      'time64[us][pyarrow]',
      'string',
    ]);
    expect(values[1]).toEqual(['2', '<NA>', '<NA>', 'nan', '<NA>', '<NA>', '<NA>', 'NaT', '<NA>', '<NA>']);
  });

  const converted: [what: string, series: string, type: string, values: (string | null)[]][] = [
    ['small integers', "pd.Series([1, 2], dtype='int8')", 'BIGINT', ['1', '2']],
    ['large unsigned integers', "pd.Series([2**64 - 1], dtype='uint64')", 'DECIMAL(20,0)', ['18446744073709551615']],
    ['float32', "pd.Series([0.5, None], dtype='float32')", 'DOUBLE', ['0.5', null]],
    ['nullable floats', "pd.Series([0.5, None], dtype='Float64')", 'DOUBLE', ['0.5', null]],
    ['infinity', 'pd.Series([float("inf"), float("nan")])', 'DOUBLE', ['inf', null]],
    ['plain booleans', 'pd.Series([True, False])', 'BOOLEAN', ['true', 'false']],
    ['objects: texts', 'pd.Series(["a", None, pd.NA, np.nan], dtype=object)', 'VARCHAR', ['a', null, null, null]],
    ['objects: integers', 'pd.Series([1, None], dtype=object)', 'BIGINT', ['1', null]],
    ['objects: integers and floats', 'pd.Series([1, 2.5], dtype=object)', 'DOUBLE', ['1.0', '2.5']],
    ['objects: booleans', 'pd.Series([True, None], dtype=object)', 'BOOLEAN', ['true', null]],
    ['objects: decimals', 'pd.Series([decimal.Decimal("1.5"), None, decimal.Decimal("10.25")])', 'DECIMAL(4,2)', ['1.50', null, '10.25']],
    ['objects: dates', 'pd.Series([datetime.date(2024, 1, 2), None])', 'DATE', ['2024-01-02', null]],
    ['objects: moments', 'pd.Series([datetime.datetime(1, 1, 1), None], dtype=object)', 'TIMESTAMP', ['0001-01-01 00:00:00', null]],
    ['objects: times', 'pd.Series([datetime.time(1, 2), None])', 'TIME', ['01:02:00', null]],
    ['objects: nothing', 'pd.Series([None, None])', 'VARCHAR', [null, null]],
    ['no values at all', 'pd.Series([], dtype=object)', 'VARCHAR', []],
    [
      'lists and dictionaries',
      'pd.Series([[1, None, "あ"], {"a": (1.5, True)}, None])',
      'JSON',
      ['[1, null, "あ"]', '{"a": [1.5, true]}', null],
    ],
    ['lists of Arrow', 'pd.Series([[1], None], dtype=pd.ArrowDtype(pa.list_(pa.int64())))', 'JSON', ['[1]', null]],
    [
      'nanoseconds that are whole',
      'pd.Series(pd.to_datetime(["2024-01-02 03:04:05.000006"]))',
      'TIMESTAMP',
      ['2024-01-02 03:04:05.000006'],
    ],
    [
      'moments of a time zone',
      'pd.Series(pd.to_datetime(["2024-01-02 09:00"]).tz_localize("Asia/Tokyo"))',
      'TIMESTAMP',
      ['2024-01-02 00:00:00'],
    ],
    ['categories', 'pd.Series(["b", None, "a"], dtype="category")', 'VARCHAR', ['b', null, 'a']],
    ['categories of numbers', 'pd.Series([2, None, 1], dtype="category")', 'BIGINT', ['2', null, '1']],
    ['sparse values', 'pd.Series(pd.arrays.SparseArray([0, 1]))', 'BIGINT', ['0', '1']],
    ['strings of pandas', 'pd.Series(["a"], dtype="string[python]")', 'VARCHAR', ['a']],
    ['strings of Arrow', 'pd.Series(["a"], dtype=pd.ArrowDtype(pa.large_string()))', 'VARCHAR', ['a']],
    ['categories of strings of Arrow', 'pd.Series(["a"], dtype=pd.ArrowDtype(pa.string())).astype("category")', 'VARCHAR', ['a']],
    ['dictionaries of Arrow', 'pd.Series(["a"], dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string())))', 'VARCHAR', ['a']],
  ];

  it.each(converted)('%s', async (_, series, type, values) => {
    const made = await run(`import datetime, decimal\nimport pyarrow as pa\ndef transform():\n    return pd.DataFrame({'x': ${series}})`);
    expect(made.columns).toEqual([['x', type]]);
    expect(made.values).toEqual([values]);
  });

  const refused: [what: string, frame: string, said: RegExp][] = [
    ['mixed values', '{"列": [1, "a"]}', /列 holds values of several types: int, str/],
    ['timedeltas', '{"列": pd.to_timedelta([1])}', /列 has the type timedelta64/],
    ['durations of Arrow', '{"列": pd.Series([1], dtype=pd.ArrowDtype(pa.duration("s")))}', /列 has the type duration/],
    ['periods', '{"列": pd.period_range("2024-01", periods=2, freq="M")}', /列 has the type period/],
    ['intervals', '{"列": pd.cut([1, 2], 2)}', /列 has the type interval/],
    ['complex numbers', '{"列": [1j]}', /列 has the type complex/],
    ['bytes', '{"列": [b"a"]}', /列 has the type bytes/],
    ['objects of a class', '{"列": [object()]}', /列 has the type object/],
    ['sets', '{"列": [{1}]}', /列 has the type set/],
    ['integers beyond 64 bits', '{"列": [2**70]}', /A value of column 列 does not fit/],
    ['decimals beyond 38 digits', '{"列": [decimal.Decimal(10) ** 39]}', /A value of column 列 does not fit/],
    ['nanoseconds', '{"列": pd.to_datetime([1])}', /A value of column 列 does not fit/],
    ['years beyond 9999', '{"列": np.array(["12000-01-01"], dtype="datetime64[s]")}', /列 holds a date outside/],
    ['U+0000', '{"列": ["a\\0b"]}', /列 holds a text with U\+0000/],
    ['lone surrogates', '{"列": ["\\ud800"]}', /A value of column 列 does not fit/],
    ['values that JSON has not', '{"列": [[object()]]}', /A value of column 列 does not fit/],
    ['a list that holds itself', '{"列": [loop]}', /A value of column 列 does not fit/],
    ['names that are no text', '[[1]]', /The name of column 1 is 0, not text/],
    ['names twice', '[[1, 2]], columns=["列", "列"]', /Two columns are named 列/],
    ['names on two levels', '{("a", "b"): [1]}', /The name of column 1 is \('a', 'b'\), not text/],
    ['no columns', '', /The frame has no columns/],
  ];

  it.each(refused)('refuses %s', async (_, frame, said) => {
    const template = `import datetime, decimal\nimport pyarrow as pa\nloop = []\nloop.append(loop)\ndef transform():\n    return pd.DataFrame(${frame})`;
    const fault = await refuse(template);
    expect(fault).toMatchObject({ code: 'query-failed', detail: expect.stringMatching(said) });
    expect(fault.suggestedFix).not.toBe('');
  });

  it('drops the index', async () => {
    const { columns, values } = await run("def transform():\n    return pd.DataFrame({'a': [1, 2]}, index=['x', 'x'])");
    expect({ columns, values }).toEqual({ columns: [['a', 'BIGINT']], values: [['1', '2']] });
  });
});
