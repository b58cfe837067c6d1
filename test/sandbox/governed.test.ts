import { chmod, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeWorkDir } from '../../store/duckdb/sandbox/folders.ts';
import { bubblewrapIsolation, findBubblewrap, type Isolation, userIsolation } from '../../store/duckdb/sandbox/isolation.ts';
import { type QueryProcess, startProcess } from '../../store/duckdb/sandbox/process.ts';
import { findChildProgram } from '../../store/duckdb/sandbox/program.ts';
import { runInProcess } from '../../store/duckdb/sandbox/runInProcess.ts';
import { searchPath, secrets, useSandbox } from './world.ts';

/** Columns that are hidden from the caller: denied ones do not exist for any query, masked ones are NULL. */

const { world, sandbox } = await useSandbox();

const told = async (work: Promise<{ pageJson: Buffer }>): Promise<string> =>
  work.then(
    ({ pageJson }) => String(pageJson),
    (error: unknown) => `${JSON.stringify(error)} ${String(error)}`,
  );

describe('runInProcess: hidden columns', () => {
  it.each([
    ['by name', 'SELECT 月給 FROM 給与'],
    ['by star', 'SELECT * FROM 給与'],
    ['by COLUMNS', "SELECT COLUMNS('.*') FROM 給与"],
    ['by COLUMNS with a lambda', "SELECT COLUMNS(c -> c LIKE '月%') FROM 給与"],
    ['by EXCLUDE', 'SELECT * EXCLUDE (月給) FROM 給与'],
    ['by REPLACE', 'SELECT * REPLACE (月給 AS 名前) FROM 給与'],
    ['as a row', 'SELECT 給与 FROM 給与'],
    ['as a row in JSON', 'SELECT to_json(p) FROM 給与 p'],
    ['as a field of the row', 'SELECT (p).月給 FROM 給与 p'],
    ['by extraction', "SELECT struct_extract(p, '月給') FROM 給与 p"],
    ['in a filter', "SELECT 名前 FROM 給与 WHERE 月給 LIKE 'D%'"],
    ['in a sort', 'SELECT 名前 FROM 給与 ORDER BY 月給'],
    ['in a group', 'SELECT 月給, count(*) FROM 給与 GROUP BY ALL'],
    ['in a join', 'SELECT * FROM 給与 a JOIN 給与 b USING (月給)'],
    ['in a natural join', 'SELECT * FROM 給与 a NATURAL JOIN 給与 b'],
    ['in an aggregate', 'SELECT max(月給), string_agg(月給) FROM 給与'],
    ['in a window', 'SELECT lag(月給) OVER () FROM 給与'],
    ['by UNPIVOT', 'UNPIVOT 給与 ON COLUMNS(*)::VARCHAR'],
    ['by PIVOT', "PIVOT 給与 ON 部署 IN ('営業') USING list(月給)"],
    ['by the position', 'SELECT #3 FROM 給与'],
    ['by renaming columns', 'SELECT * FROM 給与 AS p(a, b, c, d, e, f)'],
    ['by the inner name', 'SELECT c3 FROM 給与'],
    ['by a subquery', 'SELECT (SELECT 月給 FROM 給与 LIMIT 1)'],
    ['by an error of a cast', 'SELECT CAST(月給 AS INTEGER) FROM 給与'],
    ['by an error of a masked cast', 'SELECT CAST(電話 AS INTEGER), error(電話) FROM 給与'],
    ['a masked column by star', 'SELECT * FROM 給与 WHERE 電話 IS NOT NULL'],
    ['a masked column by COALESCE', "SELECT coalesce(電話, '?') FROM 給与"],
    ['a masked column in a filter', `SELECT 名前 FROM 給与 WHERE 電話 LIKE '${secrets.masked.slice(0, 3)}%'`],
    ['by pseudo columns', 'SELECT rowid, filename, file_row_number FROM 給与'],
    ['the row id alone', 'SELECT rowid FROM 給与'],
  ])('%s', async (_, sql) => {
    const text = await told(world.run(sandbox, sql));
    for (const secret of [secrets.denied, secrets.masked]) expect(text).not.toContain(secret);
    // A name that the caller wrote himself comes back in an error; one that he did not must not.
    if (!sql.includes('月給')) expect(text).not.toContain('月給');
  });

  it('gives the rest, rows that are not in files yet included', async () => {
    expect(await world.rows(sandbox, 'SELECT * FROM 給与 ORDER BY 年齢')).toEqual([
      { 名前: '佐藤', 部署: '営業', 電話: null, 年齢: 31, __svc_row_id: 1 },
      { 名前: '鈴木', 部署: '開発', 電話: null, 年齢: 45, __svc_row_id: 2 },
      { 名前: '高橋', 部署: '営業', 電話: null, 年齢: 52, __svc_row_id: 3 },
    ]);
    expect(
      await world.rows(sandbox, "SELECT count(*) AS n, max(s.県) AS 県 FROM 給与 p, 店舗 s WHERE p.部署 = '営業' AND s.店 = '大阪'"),
    ).toEqual([{ n: 2, 県: '大阪府' }]);
    expect(await world.rows(sandbox, 'SELECT count(*) AS n FROM 給与')).toEqual([{ n: 3 }]);
    expect(await world.rows(sandbox, 'SELECT y, z FROM 給与 AS p(x, y, z) ORDER BY x LIMIT 1')).toEqual([{ y: '営業', z: null }]);
    expect(await world.rows(sandbox, "SELECT 名前 FROM 給与 WHERE 部署 = '開発' AND __svc_row_id = 2")).toEqual([{ 名前: '鈴木' }]);
  });

  it('says of a denied column no more than of one that never was', async () => {
    const [denied, unknown] = await Promise.all(['月給', '月級'].map((name) => told(world.run(sandbox, `SELECT ${name} FROM 給与`))));
    expect(denied?.replaceAll('月給', 'X')).toBe(unknown?.replaceAll('月級', 'X'));
  });
});

const bwrap = findBubblewrap(searchPath);
const isolations: [string, () => Promise<Isolation>][] = [
  ...(bwrap
    ? [['bubblewrap', async () => bubblewrapIsolation(bwrap, await findChildProgram())] as [string, () => Promise<Isolation>]]
    : []),
  ...(process.getuid?.() === 0
    ? [['another user', async () => userIsolation(await findChildProgram(), join(workDir, 'app'))] as [string, () => Promise<Isolation>]]
    : []),
];
let workDir: string;

/** Nobody looks at the SQL here: the first wall is left out on purpose. */
describe.each(isolations)('the query process without the check of the tree, in %s', (_, makeIsolation) => {
  let child: QueryProcess;

  beforeAll(async () => {
    // The other user must get there.
    await chmod(world.dir, 0o711);
    workDir = await makeWorkDir(world.dir, 0o711);
    const isolation = await makeIsolation();
    child = await startProcess(isolation, workDir);
  });
  afterAll(() => child?.kill());

  const run = (sql: string) =>
    runInProcess(child, {
      sql,
      params: {},
      relations: world.relations,
      pathOf: world.pathOf,
      check: null,
      deadlineMs: Date.now() + 10_000,
      pageLimit: 1000,
      maxRows: 100_000,
      maxBytes: 1e8,
      resultPath: null,
      inlineBytes: { rows: 0, file: 0 },
      sessionKey: null,
    });

  it.each([
    ['governed files', "SELECT content::VARCHAR AS c FROM read_blob('{in}/governed/*')"],
    ['a governed file', "SELECT * FROM '{in}/governed/0.parquet'"],
    ['all files', "SELECT * FROM read_parquet('{in}/**/*.parquet', union_by_name = true)"],
    ['the catalog', "SELECT * FROM duckdb_columns() WHERE table_name = '給与'"],
    ['views', 'SELECT sql FROM duckdb_views() WHERE NOT internal'],
    ['storage', "SELECT * FROM pragma_storage_info('給与')"],
    ['a summary', 'SUMMARIZE 給与'],
    ['by name', "FROM query_table('給与')"],
    ['a query in a query', "FROM query('SELECT * FROM 給与')"],
    ['tails', 'SELECT * FROM duckdb_tables()'],
    ['metadata', "SELECT * FROM parquet_schema('{in}/open/*.parquet')"],
  ])('%s', async (__, sql) => {
    const text = await told(run(sql.replaceAll('{in}', child.seen.inDir)));
    for (const hidden of [secrets.denied, secrets.masked, secrets.foreign, '月給']) expect(text.includes(hidden)).toBe(false);
    if (child.gone) child = await startProcess(await makeIsolation(), workDir);
  });

  it.each([
    ["SELECT * FROM read_text('/etc/passwd')"],
    ["SELECT * FROM glob('/**')"],
    ["SELECT * FROM read_blob('/proc/self/environ')"],
    ["COPY (SELECT 1) TO '{in}/open/0.parquet' (FORMAT parquet, USE_TMP_FILE false)"],
    ["CALL enable_logging(storage = 'file', storage_path = '/app/x')"],
    ["CALL enable_profiling(save_location = '/app/x.txt')"],
    ['SET threads = 8'],
    ["ATTACH '/app/x.db'"],
  ])('%s', async (sql) => {
    const before = await world.rows(sandbox, 'SELECT * FROM 売上');
    const text = await told(run(sql.replaceAll('{in}', child.seen.inDir)));
    expect(text).not.toMatch(/root:|PATH=|HOME=/);
    if (child.gone) child = await startProcess(await makeIsolation(), workDir);
    expect(await world.rows(sandbox, 'SELECT * FROM 売上')).toEqual(before);
  });

  it('really is without it', async () => {
    expect(await told(run("SELECT column_name FROM duckdb_columns() WHERE table_name = '給与'"))).toContain('年齢');
  });

  it('leaves no file of a query behind', async () => {
    await run('SELECT 1');
    for (const part of ['open', 'governed']) expect(await readdir(join(child.folders.inDir, part))).toEqual([]);
    expect(await readdir(child.folders.outDir)).toEqual([]);
  });
});
