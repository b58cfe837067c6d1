import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../store/duckdb/sandbox/sandbox.ts';
import { makeWorld, refusal, secrets, type World } from './world.ts';

/** Statements of somebody who means harm. Each is refused or bounded, nothing leaks, and the service goes on. */

let world: World;
let sandbox: Sandbox;

beforeAll(async () => {
  world = await makeWorld();
  sandbox = await world.open();
});
afterAll(async () => {
  await sandbox?.close();
  await world?.close();
});

const files = [
  "SELECT * FROM '/etc/passwd'",
  'SELECT * FROM "/etc/passwd"',
  "SELECT * FROM read_text('/etc/passwd')",
  "SELECT * FROM read_blob('/proc/self/environ')",
  "SELECT * FROM read_csv('/etc/passwd', sep = ':')",
  "SELECT * FROM read_csv_auto('/etc/hosts')",
  "SELECT * FROM read_json('/etc/passwd')",
  "SELECT * FROM read_json_objects('/etc/passwd')",
  "SELECT * FROM read_parquet('/in/open/0.parquet')",
  "SELECT * FROM parquet_scan('/in/governed/0.parquet')",
  "SELECT * FROM '/in/open/0.parquet'",
  "SELECT * FROM '/in/*/*.parquet'",
  "SELECT * FROM glob('/**')",
  "SELECT * FROM parquet_metadata('/in/open/0.parquet')",
  "SELECT * FROM parquet_schema('/in/governed/0.parquet')",
  "SELECT * FROM parquet_kv_metadata('/in/open/0.parquet')",
  "SELECT * FROM sniff_csv('/etc/passwd')",
  "SELECT * FROM read_duckdb('/in/x.db')",
  "SELECT * FROM 'https://example.com/x.csv'",
  "SELECT * FROM 's3://bucket/x.parquet'",
  "SELECT * FROM '../../etc/passwd'",
  "SELECT * FROM 売上 JOIN '/etc/passwd' ON true",
  "SELECT (SELECT content FROM read_text('/etc/passwd'))",
  "WITH x AS (SELECT * FROM read_text('/etc/passwd')) SELECT * FROM x",
  "SELECT * FROM 売上 WHERE 店 IN (SELECT content FROM read_text('/etc/passwd'))",
  "SELECT * FROM 売上 ORDER BY (SELECT content FROM read_text('/etc/passwd'))",
  "SELECT * FROM 売上 LIMIT (SELECT length(content) FROM read_text('/etc/passwd'))",
  "SELECT * FROM range((SELECT length(content) FROM read_text('/etc/passwd')))",
  "SELECT sum(金額) FILTER (EXISTS (FROM read_text('/etc/passwd'))) OVER (ORDER BY (SELECT 1 FROM glob('/*'))) FROM 売上",
  "PIVOT (FROM read_text('/etc/passwd')) ON filename IN ('x') USING count(*)",
  "VALUES ((SELECT content FROM read_text('/etc/passwd')))",
  "COPY (SELECT 1) TO '/out/x.csv'",
  "COPY 売上 FROM '/etc/passwd'",
  "ATTACH '/in/x.db' AS x",
  "EXPORT DATABASE '/out/all'",
  'INSTALL httpfs',
  "LOAD '/out/evil.duckdb_extension'",
  "FROM 'x.json'",
  "FROM 'hf://datasets/x/y.parquet'",
  'FROM "file:///etc/passwd"',
  "FROM '/dev/stdin'",
  "FROM '-'",
  "FROM read_ndjson_auto('/etc/passwd')",
  "FROM delta_scan('/in')",
  "FROM sqlite_scan('/in/x.db', 't')",
  'FROM 売上 t, LATERAL (FROM read_text(t.店))',
  "SELECT [x for x in (SELECT content FROM read_text('/etc/passwd'))]",
  "SELECT * FROM 売上 ASOF JOIN 'x.csv' USING (店)",
];

const catalogs = [
  'SELECT * FROM information_schema.tables',
  'SELECT * FROM information_schema.columns',
  'SELECT * FROM duckdb_tables()',
  'SELECT * FROM duckdb_columns',
  'SELECT sql FROM duckdb_views()',
  'SELECT * FROM system.main.duckdb_views',
  'SELECT * FROM pg_catalog.pg_class',
  'SELECT * FROM pg_views',
  'SELECT * FROM sqlite_master',
  "SELECT * FROM pragma_table_info('給与')",
  "SELECT * FROM pragma_storage_info('給与')",
  'SELECT * FROM pragma_database_list',
  'SELECT * FROM temp.main.給与',
  'SELECT * FROM memory.main.svc_result',
  'SELECT * FROM svc_result',
  'DESCRIBE 給与',
  'SHOW 給与',
  'SHOW ALL TABLES',
  'SUMMARIZE 給与',
  'FROM (SUMMARIZE 給与)',
  'SELECT * FROM (SHOW TABLES)',
  'EXPLAIN SELECT * FROM 給与',
  'EXPLAIN ANALYZE SELECT * FROM 給与',
  "PRAGMA table_info('給与')",
  'PRAGMA show_tables',
  "SELECT json_serialize_plan('SELECT * FROM 給与')",
  "SELECT json_serialize_sql('SELECT 1')",
  "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT 1'))",
  'SELECT pg_get_viewdef(1)',
  'SELECT stats(金額) FROM 売上',
  'SELECT * FROM (WITH duckdb_views AS (SELECT 1) FROM duckdb_views), duckdb_views',
  'WITH pg_views AS (SELECT * FROM pg_views) SELECT * FROM pg_views',
  'FROM duckdb_prepared_statements()',
  'FROM pragma_version()',
  'FROM pragma_user_agent()',
  "FROM storage_info('給与')",
  'FROM (SHOW DATABASES)',
  'DESCRIBE SELECT * FROM 給与',
  'SELECT * FROM sqlite_schema',
  '(WITH duckdb_settings AS (SELECT 1) FROM duckdb_settings) UNION ALL FROM duckdb_settings',
  'WITH RECURSIVE duckdb_settings AS (SELECT * FROM duckdb_settings) FROM duckdb_settings',
  'WITH RECURSIVE x AS (FROM pg_tables UNION ALL FROM x) FROM x',
  'WITH a AS (FROM b), b AS (SELECT 1) FROM a',
  "SELECT CAST('給与' AS regclass)",
  "SELECT CAST('x' AS main.pg_class)",
  'SELECT * FROM (FROM 売上) AS pg_class, pg_tables',
];

const settings = [
  "SELECT current_setting('allowed_directories')",
  "SELECT getenv('DATABASE_URL')",
  "SELECT getvariable('x')",
  'SELECT * FROM duckdb_settings()',
  'SELECT * FROM duckdb_secrets()',
  'SELECT * FROM duckdb_extensions()',
  'SELECT * FROM duckdb_logs',
  'SELECT * FROM duckdb_memory()',
  'SELECT * FROM duckdb_external_file_cache()',
  "FROM which_secret('s3://x', 's3')",
  'SELECT version()',
  'SELECT current_database()',
  'SELECT current_user',
  'SELECT current_catalog',
  'SELECT current_query()',
  "SELECT nextval('seq')",
  'SELECT txid_current()',
  "SELECT write_log('x')",
  "SET memory_limit = '100GB'",
  'SET VARIABLE x = 1',
  'RESET lock_configuration',
  'PRAGMA enable_external_access = true',
  'SELECT * FROM enable_logging()',
  'SELECT * FROM force_checkpoint()',
  'CALL enable_profiling()',
  'SELECT current_user FROM 売上',
  "SELECT 店 FROM 売上 WHERE session_user <> ''",
  'SELECT current_catalog, * FROM 売上 JOIN 店舗 USING (店)',
  "SELECT list_transform([1], lambda x: getvariable('x'))",
  "SELECT [getenv(x) for x in ['HOME']]",
  "SELECT list_aggr(['HOME'], 'getenv')",
  'FROM icu_calendar_names()',
  'FROM pg_timezone_names()',
  'CREATE SECRET s (TYPE s3)',
  'SET SESSION x = 1',
];

const byName = [
  "SELECT * FROM query('SELECT * FROM duckdb_settings()')",
  "FROM query_table('給与')",
  "FROM query_table(['売上', '/etc/passwd'])",
  "FROM histogram('給与', 年齢)",
  "FROM histogram_values('給与', 年齢)",
  'FROM seq_scan()',
  "SELECT * FROM sql_auto_complete('SELECT * FROM ')",
  'SELECT * FROM summary(TABLE 給与)',
  "SELECT * FROM duckdb_table_sample('給与')",
  "EXECUTE x('a')",
  'PREPARE x AS SELECT 1',
  'SELECT list_transform([1], lambda x: (SELECT sql FROM duckdb_views()))',
  "EXECUTE IMMEDIATE 'SELECT 1'",
  'FROM test_all_types()',
  'FROM repeat_row(1, 2, num_rows = 3)',
  'FROM arrow_scan(1, 2, 3)',
  'FROM python_map_function()',
  'SELECT COLUMNS(c -> (SELECT true FROM duckdb_tables())) FROM 売上',
  'PIVOT 売上 ON 店 IN (FROM duckdb_settings()) USING count(*)',
  'UNPIVOT duckdb_settings ON COLUMNS(*)',
];

const others = [
  'SELECT * FROM 隣の売上',
  'SELECT * FROM wb_01JXQ2V7M0Z8K4T5R6W9A1B201.売上',
  'SELECT * FROM "foreign.parquet"',
  'SELECT * FROM other.main.給与',
  'SELECT * FROM (WITH 隣の売上 AS (SELECT 1) SELECT 2), 隣の売上',
  'WITH x AS (SELECT * FROM 隣の売上) SELECT 1',
  'SELECT (SELECT count(*) FROM 隣の売上)',
  'FROM 売上 WHERE EXISTS (FROM 隣の売上)',
];

const statements = [
  'SELECT 1; SELECT 2',
  "SELECT 1; ATTACH 'x'",
  'SELECT 1;;SELECT 2',
  "SELECT 1 /* ; */ ; -- \n COPY 売上 TO '/out/x'",
  'DROP TABLE 売上',
  'CREATE TABLE x AS SELECT 1',
  'CREATE MACRO f(x) AS getenv(x)',
  'INSERT INTO 売上 VALUES (1)',
  "UPDATE 売上 SET 店 = 'x'",
  'DELETE FROM 売上',
  'TRUNCATE 売上',
  'WITH x AS (DELETE FROM 売上 RETURNING *) SELECT * FROM x',
  'BEGIN TRANSACTION',
  'CHECKPOINT',
  'VACUUM',
  'USE system',
  'MERGE INTO 売上 USING 店舗 ON true WHEN MATCHED THEN DELETE',
  'SELECT 1 INTO x',
  'SELECT * FROM 売上 AT (TIMESTAMP => now())',
  'SELECT sum(金額) EXPORT_STATE FROM 売上',
];

const tricks = [
  "SELECT * FROM read_text(/* '*/'/etc/passwd'/* ' */)",
  "SELECT * FROM READ_TEXT('/etc/passwd')",
  'SELECT * FROM "read_text"(\'/etc/passwd\')',
  "SELECT * FROM　read_text('/etc/passwd')",
  "SELECT * FROM read_text(U&'\\002fetc/passwd')",
  "SELECT * FROM read_text(E'\\x2fetc/passwd')",
  'SELECT * FROM read_text($$/etc/passwd$$)',
  "SELECT GETENV('PATH')",
  'SELECT "getenv"(\'PATH\')',
  "SELECT 'PATH'.getenv()",
  "SELECT pg_catalog.current_setting('threads')",
  "SELECT system.main.getvariable('x')",
  'SELECT operator(pg_catalog.+)(1, 2)',
  'SELECT * FROM "DUCKDB_SETTINGS"',
  'SELECT * FROM ｄｕｃｋｄｂ_settings',
  'SELECT * FROM duckdb\u200b_settings',
  'SELECT * FROM "売上 "',
  'SELECT * FROM "売\u0301上"',
  'SELECT 1\u2028; SELECT 2',
  'SELECT * FROM 売上 -- \r; DROP TABLE 売上\nUNION ALL FROM duckdb_settings()',
];

const groups: [string, string[]][] = Object.entries({
  files,
  catalogs,
  settings,
  'tables by name': byName,
  'other workbooks': others,
  'other statements': statements,
  tricks,
});

it('is a fair collection', () => {
  expect(groups.flatMap(([, list]) => list).length).toBeGreaterThanOrEqual(190);
});

describe.each(groups)('%s', (_, list) => {
  it.each(list)('%s', async (sql) => {
    const error = await refusal(world.run(sandbox, sql, { timeoutMs: 5_000 }));
    expect(['query-refused', 'query-failed']).toContain(error.code);
    const told = JSON.stringify([error.detail, error.extras.errors]);
    // Nothing of the machine, of the file system, or of what others have.
    expect(told).not.toMatch(/root:|\/home|\/tmp|svc-sandbox-test|node_modules|__svc_tail/);
    for (const secret of Object.values(secrets)) expect(told).not.toContain(secret);
  });

  it('leaves the service running', async () => {
    expect(await world.rows(sandbox, 'SELECT count(*) AS n FROM 売上')).toEqual([{ n: 3 }]);
  });
});
