import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { components } from '../../schema/contract.ts';
import { ok, type Person, refused, startTestApi, type TestApi } from '../setup/api.ts';
import { makeTable } from '../setup/tables.ts';

let api: TestApi;
let owner: Person;
let stranger: Person;
let workbookId: string;

const rowsPath = '/api/v1/workbooks/{workbook_id}/tables/{name}/rows' as const;
const queryPath = '/api/v1/workbooks/{workbook_id}/query' as const;

beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  [owner, stranger] = [await api.signUp(), await api.signUp()];
  workbookId = ok(await owner.client.POST('/api/v1/workbooks', { body: { title: '決算' } })).id;
  const columns = [{ name: '品目' }, { name: '金額', type: 'DECIMAL(18,2)' }, { name: '数', type: 'BIGINT' }];
  const rows = Array.from({ length: 3000 }, (_, i) => ({ 品目: `品${i % 7}`, 金額: `${i}.50`, 数: i === 0 ? '9223372036854775807' : i }));
  await makeTable(owner.client, workbookId, '売上', columns, rows);
});
afterAll(() => api.stop());

const run = (body: Record<string, unknown> & { sql: string }, who = owner) =>
  who.client.POST(queryPath, { params: { path: { workbook_id: workbookId } }, body: body as never });
type QueryResult = components['schemas']['QueryResult'];
/** JSON was asked for, so JSON it is. */
const read = (answer: Parameters<typeof ok>[0]) => ok(answer) as QueryResult;
const path = () => `/api/v1/workbooks/${workbookId}`;

describe('runQuery', () => {
  it('answers with a durable result that can be paged', async () => {
    const answer = read(await run({ sql: 'SELECT 品目, sum(金額) AS 計, max(数) AS n FROM 売上 GROUP BY 品目 ORDER BY 品目', limit: 2 }));
    expect(answer).toMatchObject({ row_count: 7, next_offset: 2, tables: [{ name: '売上', edit_version: 2 }], masked_columns: [] });
    expect(answer.rows[0]).toMatchObject({ 品目: '品0', n: '9223372036854775807' });
    const next = read(
      await owner.client.GET('/api/v1/results/{result_id}', { params: { path: { result_id: answer.id }, query: { limit: 5, offset: 2 } } }),
    );
    expect(next.rows.map((row) => row.品目)).toEqual(['品2', '品3', '品4', '品5', '品6']);
    expect(next.next_offset).toBeNull();
    expect(next.expires_at).toBe(answer.expires_at);
    expect(Math.abs(Date.parse(answer.expires_at) - Date.now() - 24 * 3_600_000)).toBeLessThan(60_000);
    const arrow = await api.fetch(`/api/v1/results/${answer.id}?limit=3&offset=5`, {
      token: owner.session,
      headers: { accept: 'application/vnd.apache.arrow.stream' },
    });
    expect([...(tableFromIPC(new Uint8Array(await arrow.arrayBuffer())).getChild('品目') ?? [])]).toEqual(['品5', '品6']);
    refused(await stranger.client.GET('/api/v1/results/{result_id}', { params: { path: { result_id: answer.id } } }), 404, 'not-found');
    await api.sql.query("UPDATE results SET expires_at = now() - interval '1 second' WHERE id = $1", [answer.id]);
    refused(await owner.client.GET('/api/v1/results/{result_id}', { params: { path: { result_id: answer.id } } }), 410, 'expired');
  });

  it('pages results of long rows like others, many at once', async () => {
    const { id } = read(await run({ sql: "SELECT i, repeat('x', 6000) AS long FROM range(5000) AS r(i)", limit: 1 }));
    const pages = await Promise.all(
      [0, 2_000, 4_900].flatMap((offset) =>
        ['ndjson', 'csv'].map(async (format) => {
          const answer = await api.fetch(`/api/v1/results/${id}?limit=200&offset=${offset}&format=${format}`, { token: owner.session });
          const lines = (await answer.text()).trim().split('\n');
          return { offset, first: lines.at(format === 'csv' ? 1 : 0), last: lines.at(-1), rows: lines.length - (format === 'csv' ? 1 : 0) };
        }),
      ),
    );
    for (const { offset, first, last, rows } of pages) {
      expect(rows).toBe(Math.min(200, 5_000 - offset));
      expect(first?.replace(/^{"i":/, '')).toMatch(new RegExp(`^${offset},"?(long":")?x{6000}"?}?\\s?$`));
      expect(last?.replace(/^{"i":/, '')).toMatch(new RegExp(`^${offset + rows - 1},"?(long":")?x{6000}"?}?\\s?$`));
    }
  });

  it('gives the same rows as NDJSON and Arrow', async () => {
    const sql = 'SELECT * FROM 売上 ORDER BY __svc_row_id';
    const post = (format: string) =>
      api.fetch(`${path()}/query`, {
        method: 'POST',
        token: owner.session,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ sql, format, limit: 10 }),
      });
    const [json, ndjson, arrow] = [read(await run({ sql, limit: 10 })), await post('ndjson'), await post('arrow')];
    const lines = (await ndjson.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(lines).toEqual(json.rows);
    expect(ndjson.headers.get('x-svc-row-count')).toBe('3000');
    const table = tableFromIPC(new Uint8Array(await arrow.arrayBuffer()));
    expect(table.numRows).toBe(10);
    expect(table.schema.fields.map((field) => field.name)).toEqual(['品目', '金額', '数', '__svc_row_id']);
    expect(table.getChild('数')?.get(0)).toBe(9223372036854775807n);
    const result = await api.fetch(`/api/v1/results/${ndjson.headers.get('x-svc-result-id')}?limit=3&offset=5`, {
      token: owner.session,
      headers: { accept: 'application/x-ndjson' },
    });
    expect(
      (await result.text())
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(json.rows.slice(5, 8));
    const stored = await api.sql.query<{ form: string; size: number; counted: number }>(
      'SELECT content_form AS form, octet_length(content) AS size, bytes::int AS counted FROM results WHERE id = $1',
      [json.id],
    );
    const { form, size, counted } = stored.rows[0] ?? { form: '', size: 0, counted: 0 };
    expect(form).toBe('packed');
    expect(size).toBeGreaterThan(1_000);
    expect(size).toBeLessThan(60_000);
    expect(counted - size).toBeLessThan(1_000);
  });

  it('binds parameters', async () => {
    expect(read(await run({ sql: 'SELECT count(*) AS n FROM 売上 WHERE 品目 = $1 AND 数 > $2', params: ['品1', 1000] })).rows).toEqual([
      { n: 286 },
    ]);
    expect(read(await run({ sql: 'SELECT $who AS who', params: { who: "o'x" } })).rows).toEqual([{ who: "o'x" }]);
  });

  it('takes positions without gaps only, and says so', async () => {
    for (const [sql, params] of [
      ['SELECT $2', { 2: 5 }],
      ['SELECT $3, $1', { 3: 5, 1: 6 }],
      ['SELECT $99999', null],
    ] as const) {
      const problem = refused(await run({ sql, params }), 422, 'validation-failed');
      expect(problem.detail).toContain('without gaps');
      const validated = ok(
        await owner.client.POST('/api/v1/workbooks/{workbook_id}/query/validate', {
          params: { path: { workbook_id: workbookId } },
          body: { sql, params } as never,
        }),
      );
      expect(validated).toMatchObject({ valid: false, errors: [{ message: problem.detail }] });
    }
  });

  it('says of a query that it is not valid where running it would fail for a name', async () => {
    const body = { sql: 'SELECT rowid FROM 売上' };
    refused(await run(body), 400, 'query-failed');
    const at = { params: { path: { workbook_id: workbookId } }, body };
    expect(ok(await owner.client.POST('/api/v1/workbooks/{workbook_id}/query/validate', at)).valid).toBe(false);
  });

  it('keeps every digit of a parameter, or refuses it', async () => {
    const sql = 'SELECT count(*) AS n FROM 売上 WHERE 数 = $1';
    expect(read(await run({ sql, params: ['9223372036854775807'] })).rows).toEqual([{ n: 1 }]);
    expect(read(await run({ sql, params: ['9223372036854775806'] })).rows).toEqual([{ n: 0 }]);
    const problem = refused(await run({ sql, params: [2 ** 63] }), 422, 'validation-failed');
    expect(problem.errors).toEqual([{ pointer: '/params/0', detail: expect.stringContaining('give it as a string') }]);
  });

  it('reads long pages in every format', async () => {
    const sql = "SELECT i, repeat('x', 20000) AS x FROM range(2500) r(i)";
    const post = (format: string) =>
      api.fetch(`${path()}/query`, {
        method: 'POST',
        token: owner.session,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ sql, format, limit: 2500 }),
      });
    const json = read(await run({ sql, limit: 2500 }));
    expect([json.row_count, json.rows.length, json.rows.at(-1)?.i]).toEqual([2500, 2500, 2499]);
    const ndjson = await post('ndjson');
    expect(ndjson.status).toBe(200);
    expect((await ndjson.text()).length).toBeGreaterThan(50_000_000);
    // As JSON the page comes as it is read, and a reader who leaves ends it.
    const address = `/api/v1/results/${ndjson.headers.get('x-svc-result-id')}?limit=2500`;
    const whole = (await (await api.fetch(address, { token: owner.session })).json()) as QueryResult;
    expect([whole.row_count, whole.rows.length, whole.rows.at(-1)?.i]).toEqual([2500, 2500, 2499]);
    for (let i = 0; i < 12; i += 1) {
      const left = await fetch(`${api.url}${address}`, { headers: { authorization: `Bearer ${owner.session}` } });
      await left.body?.cancel();
    }
    expect((await api.fetch(address.replace('2500', '1'), { token: owner.session })).status).toBe(200);
  });

  it('serves others while readers take their time', async () => {
    const answer = read(await run({ sql: "SELECT repeat('x', 2000) AS x FROM range(10000)", limit: 1 }));
    const slow = await Promise.all(
      Array.from({ length: 6 }, () =>
        fetch(`${api.url}/api/v1/results/${answer.id}?limit=10000`, { headers: { authorization: `Bearer ${owner.session}` } }),
      ),
    );
    const others = await api.fetch(`${path()}/tables/${encodeURIComponent('売上')}/profile`, { token: owner.session });
    expect(others.status).toBe(200);
    expect((await api.fetch(`/api/v1/results/${answer.id}`, { token: owner.session })).status).toBe(200);
    for (const body of slow) await body.body?.cancel();
  });

  it('reads columns that are meant without being named by themselves', async () => {
    const columns = [{ name: 'k' }, { name: 'n', type: 'DECIMAL(2,2)' }];
    await makeTable(owner.client, workbookId, 'meant', columns, [{ k: 'a', n: '0.50' }]);
    expect(read(await run({ sql: 'SELECT k.upper() AS x, t.k.upper() AS y, #2 AS z FROM meant t' })).rows).toEqual([
      { x: 'A', y: 'A', z: '0.50' },
    ]);
  });

  it('finds its tables however their names are written, and names the nearest of all where there is none', async () => {
    const inWorkbook = { params: { path: { workbook_id: workbookId } } };
    const validate = async (sql: string) =>
      ok(await owner.client.POST('/api/v1/workbooks/{workbook_id}/query/validate', { ...inWorkbook, body: { sql } }));
    await makeTable(owner.client, workbookId, `It's "Odd"`, [{ name: 'a' }]);
    const many = Array.from({ length: 1_500 }, (_, i) => `1 AS c${i}`).join(', ');
    for (const [sql, rows] of [
      [`SELECT count(*) AS n FROM "IT'S ""odd"""`, 1],
      // With a quote that is none, what comes after looks like something else.
      [`SELECT count(*) AS n, $$it's$$ AS t FROM 売上, "it's ""odd""" WHERE 品目 <> 'x'`, 1],
      ['/* " */ WITH plain AS (SELECT * FROM 売上 LIMIT 5) SELECT 品目 FROM plain -- "', 5],
      [`SELECT ${many} FROM 売上 LIMIT 2`, 2],
    ] as const) {
      expect([sql, read(await run({ sql })).row_count]).toEqual([sql, rows]);
      expect([sql, (await validate(sql)).valid]).toEqual([sql, true]);
    }
    const unknown = `SELECT * FROM 売上 JOIN "it's ""odds""" USING (a)`;
    const near = /Did you mean "It's "Odd""\?/;
    expect(refused(await run({ sql: unknown }), 400, 'query-refused').detail).toMatch(near);
    expect((await validate(unknown)).errors[0]?.message).toMatch(near);
  });

  it('refuses what is not a SELECT over its own tables, and says why', async () => {
    for (const sql of [
      "SELECT * FROM read_csv('/etc/passwd')",
      "SELECT * FROM '/etc/passwd'",
      'SELECT * FROM duckdb_tables()',
      'SELECT 1; SELECT 2',
      'DROP TABLE 売上',
      'SELECT * FROM 売り上',
    ]) {
      const problem = refused(await run({ sql }), 400, 'query-refused');
      expect(problem.detail).not.toContain('/blobs');
    }
    // As a word of its own, and beside a table that has no such column.
    for (const word of ['current_user', 'user', 'session_user', 'current_role', 'current_catalog', 'current_schema']) {
      refused(await run({ sql: `SELECT ${word}` }), 400, 'query-refused');
      refused(await run({ sql: `SELECT 品目 FROM 売上 WHERE ${word} <> ''` }), 400, 'query-refused');
    }
    refused(await run({ sql: 'SELECT 品名 FROM 売上' }), 400, 'query-failed');
    refused(await run({ sql: 'SELECT 1' }, stranger), 404, 'not-found');
    refused(await run({ sql: 'SELECT 1', at: 'no such label' }), 404, 'not-found');
  });

  it('reads the tables of a label or a snapshot as they were, and no others', async () => {
    const base = '/api/v1/workbooks/{workbook_id}' as const;
    const { id } = ok(await owner.client.POST('/api/v1/workbooks', { body: { title: 'at' } }));
    const params = { path: { workbook_id: id } };
    const table = (name: string) => ({ path: { workbook_id: id, name } });
    const make = (name: string, column: string, value: string) =>
      makeTable(owner.client, id, name, [{ name: column }], [{ [column]: value }]);
    await make('kept', 'a', 'old');
    await make('gone', 'b', 'gone');
    const { snapshot_id } = ok(await owner.client.POST(`${base}/versions`, { params, body: { label: '締め 1/2' } }));
    ok(await owner.client.POST(rowsPath, { params: table('kept'), body: { expected_version: 2, rows: [{ __svc_row_id: 1, a: 'new' }] } }));
    ok(
      await owner.client.PATCH(`${base}/artifacts/{name}/columns/{column}`, {
        params: { path: { workbook_id: id, name: 'kept', column: 'a' } },
        body: { new_name: 'renamed', expected_version: 3 },
      }),
    );
    ok(await owner.client.DELETE(`${base}/tables/{name}`, { params: { ...table('gone'), query: { expected_version: '2' } } }));
    await make('gone', 'other', 'again');
    await make('later', 'c', 'later');
    const query = (sql: string, at?: string) =>
      owner.client.POST(queryPath, { params, body: { sql, ...(at === undefined ? {} : { at }) } as never });
    for (const at of ['締め 1/2', snapshot_id]) {
      expect(read(await query('SELECT * FROM kept, gone', at))).toMatchObject({
        columns: [{ name: 'a' }, { name: '__svc_row_id' }, { name: 'b' }, { name: '__svc_row_id_2' }],
        rows: [{ a: 'old', b: 'gone' }],
        tables: [
          { name: 'kept', edit_version: 2 },
          { name: 'gone', edit_version: 2 },
        ],
      });
      refused(await query('SELECT * FROM later', at), 400, 'query-refused');
      refused(await query('SELECT renamed FROM kept', at), 400, 'query-failed');
    }
    expect(read(await query('SELECT renamed, other FROM kept, gone')).rows).toEqual([{ renamed: 'new', other: 'again' }]);
    refused(await run({ sql: 'SELECT 1', at: snapshot_id }), 404, 'not-found');
  });

  it('ends with its caller, and makes room for the next', async () => {
    const state = async () => (await api.running.services.sandbox()).state;
    const leave = new AbortController();
    const left = fetch(`${api.url}${path()}/query`, {
      method: 'POST',
      signal: leave.signal,
      headers: { authorization: `Bearer ${owner.session}`, 'content-type': 'application/json' },
      body: JSON.stringify({ sql: 'SELECT count(*) FROM range(1000000000000)', timeout_ms: 60_000 }),
    }).catch(() => 'left');
    await expect.poll(async () => (await state()).busy).toBe(1);
    leave.abort();
    expect(await left).toBe('left');
    // Long before its own time would be over.
    await expect.poll(async () => (await state()).busy, { timeout: 30_000 }).toBe(0);
    expect(read(await run({ sql: 'SELECT 1 AS n' })).rows).toEqual([{ n: 1 }]);
  });

  it('never passes off a part as the whole: a query that fails late fails', async () => {
    const late = "SELECT CASE WHEN 数 = 2900 THEN CAST('x' || 数 AS BIGINT) ELSE 数 END AS n FROM 売上, range(100) ORDER BY __svc_row_id";
    const problem = refused(await run({ sql: late.replace(' ORDER BY __svc_row_id', '') }), 400, 'query-failed');
    expect(problem.detail).toContain('x2900');
    refused(await run({ sql: late }), 400, 'query-failed');
  });

  it('validates without running', async () => {
    const validate = async (sql: string) =>
      ok(
        await owner.client.POST('/api/v1/workbooks/{workbook_id}/query/validate', {
          params: { path: { workbook_id: workbookId } },
          body: { sql },
        }),
      );
    expect(await validate('SELECT 品目, 数 + 1 AS n FROM 売上')).toEqual({
      valid: true,
      errors: [],
      columns: [
        { name: '品目', type: 'VARCHAR' },
        { name: 'n', type: 'BIGINT' },
      ],
    });
    const wrong = await validate('SELECT 品目,\n  FROM 売上 WHERE');
    expect(wrong.valid).toBe(false);
    expect(wrong.errors[0]?.line).toBe(2);
    expect((await validate('SELECT * FROM nowhere')).valid).toBe(false);
  });
});

describe('validateQuery', () => {
  it('is given up once its time is over, and not tried again over all tables', async () => {
    const sandbox = await api.running.services.sandbox();
    const { validate } = sandbox;
    const given: number[] = [];
    sandbox.validate = (query) => {
      given.push(query.timeoutMs);
      // So that the test need not wait for the whole of it.
      return validate({ ...query, timeoutMs: 200 });
    };
    try {
      // Each step has twice the columns of the one before.
      const steps = Array.from(
        { length: 24 },
        (_, i) => `c${i + 1} AS (SELECT * FROM ${i === 0 ? '売上' : `c${i}`} a, ${i === 0 ? '売上' : `c${i}`} b)`,
      );
      const answer = await owner.client.POST('/api/v1/workbooks/{workbook_id}/query/validate', {
        params: { path: { workbook_id: workbookId } },
        body: { sql: `WITH ${steps.join(', ')} SELECT count(*) FROM c24` },
      });
      expect(ok(answer)).toMatchObject({ valid: false, errors: [{ message: 'The query took too long.' }] });
      expect(given).toHaveLength(1);
    } finally {
      sandbox.validate = validate;
    }
  });
});

describe('readRows: filter', () => {
  const readRows = (query: Record<string, unknown>) =>
    owner.client.GET(rowsPath, { params: { path: { workbook_id: workbookId, name: '売上' }, query } });

  const rowsOf = (answer: Parameters<typeof ok>[0]) => ok(answer) as components['schemas']['RowsPage'];

  it('is a boolean expression over the table', async () => {
    const page = rowsOf(await readRows({ filter: "品目 = '品3' AND 数 < 50", sort: ['数:desc'], columns: ['数'], limit: 3 }));
    expect(page).toMatchObject({ row_count: 7, rows: [{ 数: 45 }, { 数: 38 }, { 数: 31 }] });
    const next = rowsOf(
      await readRows({ filter: "品目 = '品3' AND 数 < 50", sort: ['数:desc'], columns: ['数'], limit: 3, cursor: page.next_cursor }),
    );
    expect(next.rows.map((row) => row.数)).toEqual([24, 17, 10]);
  });

  it.each(['1=1) UNION ALL SELECT * FROM 売上 WHERE (1=1', '1=1) GROUP BY (品目', '1=1; SELECT 1', '/* ', 'a) THEN 1 WHEN (b', 'SELECT 1'])(
    'refuses %j',
    async (filter) => {
      const { error, response } = await readRows({ filter });
      expect(response.status).toBe(400);
      expect((error as { type: string }).type).toMatch(/query-(refused|failed)$/);
    },
  );
});
