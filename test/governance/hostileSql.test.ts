import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok, type Person, startTestApi, type TestApi } from '../setup/api.ts';
import { makeWorkbook, makeWorkspace } from '../setup/credentials.ts';
import { setPolicy, tagColumn } from '../setup/governance.ts';
import { makeTable } from '../setup/tables.ts';

/**
 * SQL that tries to get at hidden columns. Each statement runs over two tables that differ in hidden values alone: whatever it says,
 * it must say the same of both, so that no error, order, count or hash tells anything of them.
 */

let api: TestApi;
let owner: Person;
let viewer: Person;
let workbookId: string;
const names = { first: 'pay_aaaa', second: 'pay_bbbb' };
const values = {
  [names.first]: { sal: 'canaryaa', num: 731_904_001, adr: 'canarymm', age: 842_051_001 },
  [names.second]: { sal: 'zkanarie', num: 0, adr: null, age: 7 },
};
const secrets = /canaryaa|canarymm|zkanarie|7319040|8420510/i;

beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  owner = await api.signUp();
  viewer = await api.signUp();
  const team = await makeWorkspace(owner.client, 'Team');
  ok(
    await owner.client.POST('/api/control/workspaces/{workspace_id}/users', {
      params: { path: { workspace_id: team } },
      body: { email: viewer.email, role: 'editor' },
    }),
  );
  workbookId = await makeWorkbook(owner.client, 'Pay', team);
  const columns = [
    { name: 'who' },
    { name: 'dept' },
    { name: 'dsal' },
    { name: 'dnum', type: 'BIGINT' },
    { name: 'madr' },
    { name: 'mage', type: 'BIGINT' },
    { name: 'n', type: 'BIGINT' },
  ];
  for (const [name, { sal, num, adr, age }] of Object.entries(values)) {
    const rows = [1, 2, 3].map((i) => ({
      who: `who${i}`,
      dept: i > 1 ? 'a' : 'b',
      dsal: `${sal}${num === 0 ? 4 - i : i}`,
      dnum: num === 0 ? 0 : num + i,
      madr: adr === null ? null : `${adr}${i}`,
      mage: age - i,
      n: i,
    }));
    await makeTable(owner.client, workbookId, name, columns, rows);
    for (const column of ['dsal', 'dnum']) await tagColumn(owner.client, workbookId, name, column, 'secret');
    for (const column of ['madr', 'mage']) await tagColumn(owner.client, workbookId, name, column, 'private');
  }
  await setPolicy(owner.client, workbookId, 'secret', 'deny');
  await setPolicy(owner.client, workbookId, 'private', 'mask');
});
afterAll(() => api.stop());

/** An answer without what differs from one to the next by itself. */
async function say(path: string, body?: unknown): Promise<string> {
  const answer = await api.fetch(`/api/v1/workbooks/${workbookId}/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    token: viewer.session,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
  });
  const text = (await answer.text())
    .replace(/"(id|expires_at|elapsed_ms|request_id|instance|op_id|next_cursor)":("[^"]*"|[\d.]+)/g, '')
    .replaceAll(names.first, 'T')
    .replaceAll(names.second, 'T');
  return `${answer.status} ${text}`;
}

const hidden = ['dsal', 'dnum', 'madr', 'mage'];
/** Each with every hidden column as `X`. */
const perColumn = [
  'SELECT X FROM T',
  'SELECT t.X AS who FROM T t',
  'SELECT (t).X FROM T t',
  "SELECT struct_extract(t, 'X') FROM T t",
  'SELECT who FROM T WHERE CAST(X AS VARCHAR) > $$canary$$',
  'SELECT who FROM T ORDER BY X',
  'SELECT who FROM T ORDER BY X DESC LIMIT 1',
  'SELECT dept FROM T GROUP BY dept HAVING max(X) IS NOT NULL',
  'SELECT count(DISTINCT X), min(X), max(X), approx_count_distinct(X) FROM T',
  'SELECT string_agg(who ORDER BY X) FROM T',
  'SELECT arg_max(who, X), arg_min(who, X), max_by(who, X) FROM T',
  'SELECT who, row_number() OVER (ORDER BY X) FROM T ORDER BY who',
  'SELECT who, count(*) OVER (ORDER BY X ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM T ORDER BY who',
  'SELECT who FROM T QUALIFY rank() OVER (ORDER BY X) = 1',
  'SELECT hash(X), md5(CAST(X AS VARCHAR)), sha256(CAST(X AS VARCHAR)) FROM T',
  'SELECT CAST(X AS DATE) FROM T',
  'SELECT CAST(CAST(X AS VARCHAR) AS INTEGER[]) FROM T',
  'SELECT error(CAST(X AS VARCHAR)) FROM T',
  "SELECT CASE WHEN CAST(X AS VARCHAR) LIKE 'c%' THEN error('yes') ELSE who END FROM T",
  'SELECT 1 / (CASE WHEN length(CAST(X AS VARCHAR)) > 8 THEN 0 ELSE 1 END), who FROM T',
  'SELECT CAST(1 AS TINYINT) + CAST(length(CAST(X AS VARCHAR)) * 30 AS TINYINT) FROM T',
  'SELECT a.who FROM T a JOIN T b ON a.X > b.X',
  'SELECT a.who FROM T a JOIN T b USING (X) ORDER BY ALL',
  'SELECT who, l.v FROM T t, LATERAL (SELECT t.X AS v) l ORDER BY who',
  'SELECT who, (SELECT max(b.who) FROM T b WHERE b.X < a.X) FROM T a ORDER BY who',
  'SELECT who FROM T a WHERE EXISTS (SELECT 1 FROM T b WHERE b.X > a.X) ORDER BY who',
  'SELECT who FROM T WHERE X IN (SELECT X FROM T) ORDER BY who',
  'SELECT DISTINCT ON (X) who FROM T ORDER BY who',
  'SELECT list(X), first(X), histogram(X), mode(X) FROM T',
  'PIVOT T ON X USING count(*)',
  'SELECT * REPLACE (X AS who) FROM T ORDER BY n',
  'SELECT * EXCLUDE (X) FROM T ORDER BY n',
  'SELECT * RENAME (X AS seen) FROM T ORDER BY n',
  "SELECT COLUMNS('X') FROM T",
  'SELECT repeat(who, CAST(length(CAST(X AS VARCHAR)) AS INTEGER)) FROM T ORDER BY n',
  'SELECT who FROM T WHERE X IS NULL OR NOT X IS NULL ORDER BY who',
  'SELECT count(*) FILTER (WHERE X IS NOT NULL) FROM T',
  'WITH RECURSIVE r(i, v) AS (SELECT 1, CAST(max(X) AS VARCHAR) FROM T UNION ALL SELECT i + 1, v FROM r WHERE i < 2) SELECT * FROM r',
  'SELECT sum(length(CAST(X AS VARCHAR))) FROM T',
  'SELECT [x.X FOR x IN list(t)] FROM T t',
  'SELECT stats(X) FROM T',
  'SELECT typeof(X), vector_type(X) FROM T',
];
/** Over whole rows and the catalog. */
const whole = [
  'SELECT * FROM T ORDER BY n',
  'FROM T ORDER BY n',
  'TABLE T',
  'SELECT t FROM T t ORDER BY n',
  'SELECT T FROM T ORDER BY n',
  'SELECT CAST(t AS VARCHAR) FROM T t ORDER BY n',
  'SELECT to_json(t) FROM T t ORDER BY n',
  'SELECT row(t.*) FROM T t ORDER BY n',
  'SELECT row(COLUMNS(*)) FROM T ORDER BY n',
  'SELECT struct_pack(*COLUMNS(*)) FROM T ORDER BY n',
  'SELECT [COLUMNS(*)::VARCHAR] FROM T ORDER BY n',
  'SELECT list_value(*COLUMNS(*)::VARCHAR) FROM T ORDER BY n',
  'SELECT concat_ws(chr(44), *COLUMNS(*)) FROM T ORDER BY n',
  'SELECT coalesce(*COLUMNS(*)::VARCHAR) FROM T ORDER BY n',
  'SELECT hash(t), md5(CAST(t AS VARCHAR)) FROM T t ORDER BY n',
  'SELECT hash(*COLUMNS(*)) FROM T ORDER BY n',
  "SELECT COLUMNS('^[dm]') FROM T ORDER BY n",
  "SELECT COLUMNS(c -> c LIKE 'd%') FROM T ORDER BY n",
  "SELECT * LIKE 'd%' FROM T ORDER BY n",
  "SELECT * SIMILAR TO '(d|m).*' FROM T ORDER BY n",
  'SELECT CAST(COLUMNS(*) AS INTEGER) FROM T',
  'SELECT CAST(t AS INTEGER) FROM T t',
  'SELECT max(COLUMNS(*)) FROM T',
  'SELECT who FROM T ORDER BY ALL',
  'SELECT * FROM T ORDER BY ALL DESC',
  'SELECT *, count(*) FROM T GROUP BY ALL ORDER BY n',
  'SELECT DISTINCT * FROM T ORDER BY n',
  'SELECT * FROM T UNION SELECT * FROM T ORDER BY n',
  'SELECT * FROM T INTERSECT SELECT * FROM T ORDER BY n',
  'SELECT * FROM T EXCEPT SELECT * FROM T',
  'SELECT a.who FROM T a NATURAL JOIN T b ORDER BY a.n',
  'SELECT * FROM T a POSITIONAL JOIN T b ORDER BY 1',
  'SELECT * FROM (SELECT * FROM T) s ORDER BY n',
  'SELECT * FROM T AS t(a, b, c, d, e, f) ORDER BY 1',
  'SELECT #3, #4 FROM T',
  'SELECT rowid, who FROM T ORDER BY n',
  'SELECT c3, c4, c5 FROM T',
  'UNPIVOT T ON COLUMNS(*)::VARCHAR',
  'UNPIVOT T ON COLUMNS(* EXCLUDE (who, dept, n))::VARCHAR',
  'SUMMARIZE T',
  'DESCRIBE T',
  'SELECT * FROM (SUMMARIZE T)',
  'SELECT unnest(t) FROM T t ORDER BY n',
  'SELECT unnest(t, recursive := true) FROM T t',
  'SELECT json_keys(to_json(t)) FROM T t LIMIT 1',
  "SELECT to_json(t) ->> '$.dsal' FROM T t ORDER BY n",
  'SELECT map_from_entries(list((who, t))) FROM T t',
  'SELECT array_agg(t ORDER BY n) FROM T t',
  "SELECT who FROM T t WHERE CAST(t AS VARCHAR) LIKE '%canary%'",
  'SELECT who FROM T t ORDER BY t',
  'SELECT min(t), max(t) FROM T t',
  'SELECT a.who FROM T a, T b WHERE a > b ORDER BY 1',
  'SELECT typeof(t) FROM T t LIMIT 1',
  'SELECT * FROM duckdb_columns()',
  'SELECT * FROM information_schema.columns',
  "SELECT * FROM pragma_table_info('T')",
  "SELECT * FROM query_table('T')",
  "SELECT * FROM query('SELECT * FROM T')",
  "SELECT * FROM read_parquet('*')",
  "SELECT getenv('HOME')",
  "SELECT current_setting('temp_directory')",
  'EXPLAIN ANALYZE SELECT * FROM T',
  'SELECT * FROM T USING SAMPLE 3 ROWS',
  'SELECT * FROM T TABLESAMPLE 100%',
  "SELECT printf('%s', t) FROM T t",
  "SELECT format('{}', t) FROM T t",
  'SELECT entropy(COLUMNS(*)) FROM T',
  'SELECT count(*) FROM T',
];
const statements = [...perColumn.flatMap((sql) => hidden.map((name) => sql.replace(/\bX\b/g, name))), ...whole];
const over = (sql: string, table: string) => sql.replace(/\bT\b/g, table);

describe('SQL over hidden columns', () => {
  it('is tried in many ways', () => expect(statements.length).toBeGreaterThan(200));

  it.each(statements)('%s', async (sql) => {
    const [first, second] = await Promise.all([names.first, names.second].map((table) => say('query', { sql: over(sql, table) })));
    expect(first).toBe(second);
    expect(first).not.toMatch(secrets);
    for (const name of ['dsal', 'dnum']) if (!sql.includes(name)) expect(first).not.toContain(name);
    expect(first).not.toMatch(/^5/);
  });
});

const conditions = [
  ...hidden.flatMap((name) => [`${name} IS NOT NULL`, `CAST(${name} AS VARCHAR) LIKE 'c%'`, `error(${name})`, `1 / length(${name}) = 1`]),
  'CAST(COLUMNS(*) AS VARCHAR) IS NOT NULL',
  'hash(COLUMNS(*)) > 0',
];

describe('filters and sorts by hidden columns', () => {
  it.each([
    ...conditions.map((filter) => `rows?filter=${encodeURIComponent(filter)}`),
    ...hidden.flatMap((name) => [`rows?sort=${name}`, `rows?sort=${name}:desc`, `rows?columns=${name}`]),
  ])('%s', async (tail) => {
    const [first, second] = await Promise.all([names.first, names.second].map((table) => say(`tables/${table}/${tail}`)));
    expect(first).toBe(second);
    expect(first).not.toMatch(secrets);
    expect(first).not.toMatch(/^5/);
  });
});

it('would tell the two apart if nothing were hidden', async () => {
  for (const tag of ['secret', 'private']) await setPolicy(owner.client, workbookId, tag, 'allow');
  for (const sql of ['SELECT * FROM T ORDER BY n', 'SELECT who FROM T ORDER BY dsal', 'SELECT error(CAST(madr AS VARCHAR)) FROM T']) {
    const [first, second] = await Promise.all([names.first, names.second].map((table) => say('query', { sql: over(sql, table) })));
    expect(first).not.toBe(second);
  }
});
