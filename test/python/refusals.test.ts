import { describe, expect, it } from 'vitest';
import { usePython } from './world.ts';

/** Templates that cannot be run, or fail: a clear refusal each. */

const world = await usePython();

describe.skipIf(!world)('refusals', () => {
  const { python, run, refuse } = world as NonNullable<typeof world>;
  const one = { a: "SELECT 1 AS n, '極秘' AS t" };

  const broken: [what: string, template: string, said: string | RegExp][] = [
    ['a syntax error', 'def transform(a):\n    return a +* 1', 'invalid syntax (line 2, column 15).'],
    ['an indentation error', 'def transform(a):\nreturn a', /indented block.* \(line 2, column 1\)\./],
    ['NUL', 'def transform(a):\n    return "\0"', /null bytes|NUL/i],
    [
      'expressions that are nested too deeply',
      `def transform(a):\n    return ${'('.repeat(5000)}a${')'.repeat(5000)}`,
      /too many|nested|recursion/i,
    ],
    ['no function', 'frame = 1', 'The template does not define the function transform.'],
    ['something else of that name', 'transform = 5', 'The template does not define the function transform.'],
    ['a missing parameter', 'def transform():\n    return 1', 'transform has no parameter a, which args names.'],
    ['a parameter too many', 'def transform(a, b, c=1):\n    return a', 'transform has the parameter b, for which args names no table.'],
    ['parameters by position', 'def transform(a, /):\n    return a', 'transform takes a by position; tables are given by name.'],
    ['an error', 'def transform(a):\n    x = 1\n    return a["ない"]', "KeyError was raised in line 3: 'ない'."],
    ['an error outside of the function', 'import nothing', /^ModuleNotFoundError was raised in line 1: No module named 'nothing'\.$/],
    ['an error without words', 'def transform(a):\n    raise ValueError', 'ValueError was raised in line 2.'],
    [
      'an error that cannot be told',
      'class E(Exception):\n    def __str__(self): raise self\ndef transform(a):\n    raise E',
      'E was raised in line 4.',
    ],
    ['an end', 'import sys\ndef transform(a):\n    sys.exit(3)', 'SystemExit was raised in line 3: 3.'],
    [
      'recursion without end',
      'def transform(a):\n    return transform(a)',
      /^RecursionError was raised in line 2: maximum recursion depth/,
    ],
    ['nothing returned', 'def transform(a):\n    pass', 'transform returned None, not a pandas DataFrame.'],
    ['a Series', 'def transform(a):\n    return a["n"]', 'transform returned Series, not a pandas DataFrame.'],
    ['a coroutine', 'async def transform(a):\n    return a', 'transform returned coroutine, not a pandas DataFrame.'],
  ];

  it.each(broken)('%s', async (_, template, said) => {
    const fault = await refuse(template, one);
    expect(fault.code).toBe('query-failed');
    expect(fault.detail).toEqual(typeof said === 'string' ? said : expect.stringMatching(said));
    expect(fault.extras.errors).toEqual([{ pointer: '/template', detail: fault.detail }]);
    expect(`${fault.detail} ${fault.suggestedFix}`).not.toMatch(/\/app|\/in\/|site-packages|\/tmp|\.py/);
  });

  it('an error may quote values, and has words without them', async () => {
    const fault = await refuse('def transform(a):\n    return a.assign(x=a.t.astype(float))', one);
    expect(fault.detail).toContain('極秘');
    expect(fault.withoutValues).toBe('ValueError was raised in line 2.');
    const unfit = await refuse('def transform(a):\n    return pd.DataFrame({"x": [a.t[0] + "\\ud800"]})', one);
    expect(unfit.withoutValues).toBe('A column of the returned frame does not fit into a table.');
  });

  it('can be found without running it', async () => {
    const check = (template: string, argNames: string[] = ['a']) =>
      python.check({ userId: 'a', template, argNames }).then(
        () => 'fine',
        (error: { detail: string }) => error.detail,
      );
    expect(await check('def transform(a):\n    while True: pass')).toBe('fine');
    expect(await check('def transform(a, *, b=1, **more):\n    pass', ['a', 'c'])).toBe('fine');
    expect(await check('transform = print')).toBe('fine');
    expect(await check('def transform(a:')).toMatch(/line 1/);
    expect(await check('def transform(b, c=1):\n    pass')).toBe('transform has the parameter b, for which args names no table.');
    expect(await check('def transform(a, *, b):\n    pass')).toBe('transform has the parameter b, for which args names no table.');
  });

  it('takes tables in any order, with defaults and by **', async () => {
    const tables = { a: 'SELECT 1 AS n', b: 'SELECT 2 AS n' };
    const said = async (template: string) => (await run(template, tables)).values[0];
    expect(await said('def transform(b, a, c=3):\n    return pd.DataFrame({"x": [int(a.n[0]), int(b.n[0]), c]})')).toEqual(['1', '2', '3']);
    expect(await said('def transform(**all):\n    return pd.concat(all.values())')).toEqual(['1', '2']);
    expect(await said('transform = lambda a, b: a.merge(b, how="outer")')).toEqual(['1', '2']);
  });
});

describe.skipIf(!world)('limits', () => {
  const { run, refuse } = world as NonNullable<typeof world>;

  it.each([
    ['loops', 'def transform():\n    while True: pass'],
    ['loops while it is loaded', 'while True: pass'],
    ['sleeps', 'import time\ndef transform():\n    time.sleep(60)'],
    [
      'loops and catches everything',
      'def transform():\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass',
    ],
    ['closes what it could answer by', 'import os\ndef transform():\n    os.closerange(3, 100)\n    while True: pass'],
  ])('a template that %s is ended', async (_, template) => {
    const fault = await refuse(template, {}, { timeoutMs: 700 });
    expect(fault).toMatchObject({ code: 'query-timeout', detail: 'The template took longer than the 0.7 seconds that it may take.' });
  });

  it.each([
    ['a list', 'x = []\n    while True: x.append(" " * 1000000)'],
    ['an array', 'x = np.ones(10**9)'],
    ['Arrow', 'import pyarrow as pa\n    x = pa.array(range(10**3)).take(pa.nulls(10**9, pa.int64()))'],
    ['shared memory', 'import mmap\n    x = [mmap.mmap(-1, 2**26) for _ in range(100)]\n    raise ValueError'],
    ['a text', 'x = "a" * 10**10'],
  ])('a template that allocates too much is refused: %s', async (_, body) => {
    const fault = await refuse(`def transform():\n    ${body}`, {}, { memoryBytes: 256 * 1024 * 1024 });
    expect([fault.code, fault.detail]).toEqual([
      expect.stringMatching(/^query-(too-large|failed)$/),
      expect.stringMatching(/^The template needs more than the 256 MiB|^OSError.*Cannot allocate memory/),
    ]);
  });

  it('memory that it may take can be taken', async () => {
    const { values } = await run(
      'def transform():\n    return pd.DataFrame({"n": [int(np.ones(25_000_000).sum())]})',
      {},
      { memoryBytes: 256 * 1024 * 1024 },
    );
    expect(values).toEqual([['25000000']]);
  });

  it('what is printed goes nowhere, and is bounded', async () => {
    const print = (times: number) =>
      `def transform():\n    for _ in range(${times}): print("x" * 10**6)\n    return pd.DataFrame({"n": [1]})`;
    expect((await run(print(5))).rowCount).toBe(1);
    const fault = await refuse(print(1000));
    expect(fault).toMatchObject({ code: 'query-too-large', detail: 'The template prints more than 10000000 characters.' });
    const past = 'import os\ndef transform():\n    for _ in range(100): os.write(1, b"y" * 10**6)\n    return pd.DataFrame({"n": [1]})';
    expect((await run(past)).rowCount).toBe(1);
  });

  it('rows, columns and bytes are bounded', async () => {
    const rows = await refuse('def transform():\n    return pd.DataFrame({"n": range(101)})', {}, { maxRows: 100 });
    expect(rows).toMatchObject({ code: 'query-too-large', detail: 'The frame has 101 rows; 100 are allowed.' });
    const bytes = await refuse('def transform():\n    return pd.DataFrame({"t": ["x" * 1000] * 100})', {}, { maxBytes: 50_000 });
    expect(bytes).toMatchObject({ code: 'query-too-large', detail: expect.stringContaining('50000 are allowed') });
    const columns = await refuse('def transform():\n    return pd.DataFrame([[0] * 16385], columns=[str(i) for i in range(16385)])');
    expect(columns).toMatchObject({ code: 'query-too-large', detail: 'The frame has 16385 columns; 16384 are allowed.' });
  });

  it('a run that is given up is ended, and others go on', async () => {
    const stop = new AbortController();
    const running = refuse('def transform():\n    while True: pass', {}, { signal: stop.signal });
    setTimeout(() => stop.abort(), 300);
    expect((await running).detail).toBe('The query was given up before it had ended.');
    expect((await run('def transform():\n    return pd.DataFrame({"n": [1]})')).rowCount).toBe(1);
  });
});
