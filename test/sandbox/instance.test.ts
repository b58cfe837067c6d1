import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Relation } from '../../store/duckdb/relation.ts';
import { loadRelations } from '../../store/duckdb/sandbox/child/load.ts';
import { openSession, type Session } from '../../store/duckdb/sandbox/child/session.ts';
import { makeWorld, secrets, type World } from './world.ts';

/** The second wall on its own: nobody looked at the SQL, no process is around it, and the governed files still lie there. */

let world: World;
let folders: { openDir: string; governedDir: string; outDir: string };
let session: Session;

beforeAll(async () => {
  world = await makeWorld();
  folders = { openDir: join(world.dir, 'in/open'), governedDir: join(world.dir, 'in/governed'), outDir: join(world.dir, 'out') };
  for (const dir of Object.values(folders)) await mkdir(dir, { recursive: true });
});
afterEach(() => session?.close());
afterAll(() => world?.close());

async function load(names: string[]): Promise<Session> {
  session = await openSession();
  const relations = await Promise.all(names.map((name) => prepare(world.relations.find((each) => each.name === name) as Relation)));
  await loadRelations(session, relations, null, [folders.openDir, folders.outDir]);
  return session;
}

async function prepare(relation: Relation) {
  const dir = relation.governed ? folders.governedDir : folders.openDir;
  for (const key of relation.files) await copyFile(world.pathOf(key), join(dir, key));
  const name = `__svc_tail_${relation.name}`;
  return {
    name: relation.name,
    columns: relation.columns.map((column) => column.name),
    governed: relation.governed,
    select: relation.select((key) => join(dir, key), name),
    tail: relation.tail && { ...relation.tail, name },
  };
}

const read = async (sql: string) => JSON.stringify((await session.user.runAndReadAll(sql)).getRowsJson());

describe('openSession: the engine without the other walls', () => {
  const other = () => world.pathOf('foreign.parquet');
  const governed = () => join(folders.governedDir, 't6.parquet');

  it.each([
    ['a file of the machine', () => "SELECT * FROM read_text('/etc/passwd')"],
    ['a glob', () => "SELECT * FROM glob('/etc/*')"],
    ["somebody else's file", () => `SELECT * FROM '${other()}'`],
    ['a file with hidden columns', () => `SELECT * FROM '${governed()}'`],
    ['its metadata', () => `SELECT * FROM parquet_metadata('${governed()}')`],
    ['its schema', () => `SELECT * FROM parquet_schema('${governed()}')`],
    ['a way around by dots', () => `SELECT * FROM '${folders.openDir}/../governed/t6.parquet'`],
    ['a copy elsewhere', () => `COPY (SELECT 1) TO '${world.dir}/stolen.csv'`],
    ['another database', () => `ATTACH '${world.dir}/x.db'`],
    ['an extension', () => 'INSTALL httpfs'],
    ['an extension that is there', () => `LOAD '${folders.outDir}/evil.duckdb_extension'`],
    ['the network', () => "SELECT * FROM 'http://127.0.0.1:1/x.csv'"],
    ['a setting', () => 'SET enable_external_access = true'],
    ['more folders', () => "SET allowed_directories = ['/']"],
    ['more memory', () => "SET memory_limit = '100GB'"],
    ['more threads', () => 'SET threads = 8'],
    ['a folder for spilling', () => "SET temp_directory = '/tmp'"],
    ['the lock itself', () => 'SET lock_configuration = false'],
    ['the lock, reset', () => 'RESET lock_configuration'],
    ['profiles into files', () => `SET profiling_output = '/tmp/x'`],
    ['secrets', () => "CREATE PERSISTENT SECRET s (TYPE s3, KEY_ID 'a', SECRET 'b')"],
    ['a denied column', () => 'SELECT 月給 FROM 給与'],
    ['a denied column, from the tail', () => 'SELECT * FROM "__svc_tail_給与"'],
    ['the environment', () => "SELECT getenv('PATH')"],
  ])('%s', async (_, sql) => {
    await load(['売上', '給与']);
    await expect(read(sql())).rejects.toThrow();
  });

  it('shows in its catalog no hidden column and no secret, whatever is asked', async () => {
    await load(['売上', '給与']);
    const catalog = await Promise.all(
      [
        'duckdb_columns()',
        'duckdb_tables()',
        'duckdb_views()',
        'information_schema.columns',
        'pg_attribute',
        "pragma_storage_info('給与')",
        '(SUMMARIZE 給与)',
        '(DESCRIBE 給与)',
        "query_table('給与')",
      ].map((from) => read(`SELECT * FROM ${from}`)),
    );
    const text = catalog.join('\n');
    expect(text).toContain('年齢');
    expect(text).toContain('電話');
    for (const hidden of ['月給', ...Object.values(secrets)]) expect(text.includes(hidden)).toBe(false);
    expect(JSON.parse(await read("SELECT column_name FROM duckdb_columns() WHERE table_name = '給与' ORDER BY column_index"))).toEqual([
      ['名前'],
      ['部署'],
      ['電話'],
      ['年齢'],
      ['__svc_row_id'],
    ]);
  });

  it('still runs what it is for', async () => {
    await load(['売上', '給与', 'Edited']);
    expect(await read('SELECT sum(金額) FROM 売上')).toBe('[["600"]]');
    expect(await read('SELECT 名前, 電話 FROM 給与 ORDER BY 年齢')).toBe('[["佐藤",null],["鈴木",null],["高橋",null]]');
    expect(await read('SELECT v FROM "Edited" ORDER BY v')).toBe('[["1"],["3"],["4"],["20"]]');
    expect(await read("SELECT current_setting('threads'), current_setting('temp_directory'), current_setting('lock_configuration')")).toBe(
      '[["1","",true]]',
    );
  });
});
