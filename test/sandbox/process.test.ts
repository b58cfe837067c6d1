import { randomUUID } from 'node:crypto';
import { chmod, copyFile, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { makeWorkDir, shareFile, takeFile } from '../../store/duckdb/sandbox/folders.ts';
import { bubblewrapIsolation, findBubblewrap, type Isolation, userIsolation } from '../../store/duckdb/sandbox/isolation.ts';
import { type QueryProcess, startProcess } from '../../store/duckdb/sandbox/process.ts';
import { type ChildProgram, findChildProgram } from '../../store/duckdb/sandbox/program.ts';
import { makeWorld, searchPath, type World } from './world.ts';

/** The third wall on its own: a process that does what it likes, with a DuckDB that is not restricted at all. */

const prisoner = fileURLToPath(new URL('prisoner.mjs', import.meta.url));
const bwrap = findBubblewrap(searchPath);
const isRoot = process.getuid?.() === 0;

let world: World;
let program: ChildProgram;
let workDir: string;
let server: Server;
let current: QueryProcess | null = null;

beforeAll(async () => {
  world = await makeWorld();
  program = { ...(await findChildProgram()), bundle: prisoner };
  workDir = await makeWorkDir(world.dir, 0o711);
  await chmod(world.dir, 0o711);
  await chmod(join(world.dir, 'blobs'), 0o700);
  server = createServer((socket) => socket.end('hello')).listen(0, '127.0.0.1');
});
afterEach(async () => {
  const ended = current && new Promise<void>((done) => current?.onGone(done));
  current?.kill();
  await ended;
  current = null;
});
afterAll(async () => {
  server?.close();
  await world?.close();
});

interface Tried {
  did: boolean;
  value?: string;
  why?: string;
}

async function enter(isolation: Isolation): Promise<(trick: string, more?: object) => Promise<Tried>> {
  const prison = await startProcess(isolation, workDir);
  current = prison;
  await shareFile(world.pathOf('t0.parquet'), join(prison.folders.inDir, 'open', '0.parquet'), prison.folders.owner);
  return async (trick, more) => {
    const { reply } = await prison.ask({ trick, ...more } as never, 20_000);
    return (reply as { value: Tried }).value;
  };
}

describe.skipIf(!bwrap)('bubblewrapIsolation', () => {
  const isolation = () => bubblewrapIsolation(bwrap as string, program);

  it('shows nothing of the machine', async () => {
    const tries = await enter(isolation());
    expect((await tries('root')).value?.split(' ').filter((name) => !['app', 'in', 'out', 'lib', 'lib64', 'usr'].includes(name))).toEqual(
      [],
    );
    for (const trick of ['passwd', 'parentEnvironment']) expect(await tries(trick)).toMatchObject({ did: false, why: 'ENOENT' });
    for (const path of [
      world.pathOf('foreign.parquet'),
      join(world.dir, 'blobs'),
      '/etc/ld.so.cache',
      '/etc/shadow',
      '/root',
      '/home',
      '/var',
      '/tmp',
      '/proc/self/maps',
      '/sys',
      '/dev/sda',
    ]) {
      expect([path, await tries('path', { path })]).toMatchObject([path, { did: false, why: 'ENOENT' }]);
    }
    const environment = JSON.parse((await tries('environment')).value as string) as Record<string, string>;
    expect(Object.keys(environment).sort()).toEqual([
      'GLIBC_TUNABLES',
      'LD_LIBRARY_PATH',
      'MALLOC_ARENA_MAX',
      'PWD',
      'TZ',
      'UV_THREADPOOL_SIZE',
    ]);
    expect((await tries('ids')).value).toBe('65534 65534');
  });

  it('has no network and no other processes', async () => {
    const tries = await enter(isolation());
    expect(await tries('network', { port: (server.address() as AddressInfo).port })).toMatchObject({ did: false });
    expect(await tries('outside')).toMatchObject({ did: false });
    expect(await tries('kill', { pid: process.pid })).toMatchObject({ did: false, why: 'ESRCH' });
    expect((await tries('shell')).value).toMatch(/ENOENT/);
  });

  it('writes nowhere but into its own folder', async () => {
    const tries = await enter(isolation());
    const before = await readFile(world.pathOf('t0.parquet'));
    for (const trick of ['writeIn', 'overwriteIn', 'writeRoot']) expect(await tries(trick)).toMatchObject({ did: false, why: 'EROFS' });
    expect(await tries('writeOut')).toMatchObject({ did: true });
    // With nothing but DuckDB's own settings in the way, this would have replaced the file of the store.
    expect(await tries('sql', { sql: "COPY (SELECT 1) TO '/in/open/0.parquet' (FORMAT parquet, USE_TMP_FILE false)" })).toMatchObject({
      did: false,
    });
    expect(await readFile(world.pathOf('t0.parquet'))).toEqual(before);
  });

  it('gives an unrestricted DuckDB only the files of the query', async () => {
    const tries = await enter(isolation());
    expect(await tries('sql', { sql: "SELECT * FROM '/in/open/0.parquet'" })).toEqual({ did: true, value: 3 });
    for (const sql of [
      "SELECT * FROM read_text('/etc/passwd')",
      "SELECT * FROM glob('/etc/**')",
      "SELECT * FROM read_text('/proc/self/environ')",
      "SELECT * FROM glob('/in/governed/*')",
      `SELECT * FROM '${world.pathOf('foreign.parquet')}'`,
      "SELECT * FROM 'http://127.0.0.1:1/x.csv'",
      'INSTALL httpfs',
      "ATTACH '/app/x.db'",
    ]) {
      const tried = await tries('sql', { sql });
      expect([sql, tried.did === false || tried.value === (0 as never)]).toEqual([sql, true]);
    }
  });

  it('has bounded memory', async () => {
    const tries = await enter(isolation());
    const outcome = await tries('memory').catch((error: Error) => error.message);
    expect(outcome).toEqual(expect.objectContaining({ did: false }));
  });

  it('dies with everything it started', async () => {
    const tries = await enter(isolation());
    expect((await tries('nodeAgain')).value?.trim()).toBe('query');
    await expectSwept(tries);
  });
});

/** A process that put itself into a session of its own must go, too. */
async function expectSwept(tries: (trick: string, more?: object) => Promise<Tried>): Promise<void> {
  const mark = `left-${randomUUID()}`;
  await tries('leave', { mark });
  expect(await findMarked(mark)).toBe(1);
  current?.kill();
  await expect.poll(() => findMarked(mark)).toBe(0);
}

async function findMarked(mark: string): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return lines.filter((line) => line.includes(mark)).length;
}

describe.skipIf(!isRoot)('userIsolation', () => {
  const isolation = () => userIsolation(program, join(workDir, 'app'));

  it('reads only what it is given, and writes only its own folder', async () => {
    const tries = await enter(await isolation());
    expect((await tries('ids')).value).toMatch(/^6[01]\d{3} 6[01]\d{3}$/);
    expect(Object.keys(JSON.parse((await tries('environment')).value as string) as object).sort()).toEqual([
      'GLIBC_TUNABLES',
      'MALLOC_ARENA_MAX',
      'PWD',
      'TZ',
      'UV_THREADPOOL_SIZE',
    ]);
    for (const path of [world.pathOf('foreign.parquet'), join(world.dir, 'blobs'), '/etc/shadow', `/proc/${process.pid}/environ`])
      expect([path, await tries('path', { path })]).toMatchObject([path, { did: false, why: 'EACCES' }]);
    for (const trick of ['writeIn', 'overwriteIn', 'writeRoot'])
      expect([trick, await tries(trick)]).toMatchObject([trick, { did: false, why: 'EACCES' }]);
    expect(await tries('writeOut')).toMatchObject({ did: true });
    expect(await tries('kill', { pid: process.pid })).toMatchObject({ did: false, why: 'EPERM' });
    expect(await tries('sql', { sql: `SELECT * FROM '${current?.folders.inDir}/open/0.parquet'` })).toEqual({ did: true, value: 3 });
    await expectSwept(tries);
  });

  it('is nobody whom another service on this machine runs its queries as', async () => {
    const shared = await isolation();
    const taken = ((await shared.nextOwner())?.uid ?? 0) + 1;
    const others = createServer();
    // If it is taken already, all the better.
    await new Promise<void>((done) => others.once('error', () => done()).listen(`\0workbook-query-user-${taken}`, done));
    expect((await shared.nextOwner())?.uid).not.toBe(taken);
    others.close();
  });

  it('has bounded memory, and nobody else can enter its folders', async () => {
    const shared = await isolation();
    await enter(shared);
    const first = current as QueryProcess;
    const other = await enter(shared);
    expect(await other('list', { path: first.folders.inDir })).toMatchObject({ did: false, why: 'EACCES' });
    expect(await other('kill', { pid: first.pid })).toMatchObject({ did: false, why: 'EPERM' });
    first.kill();
    expect(await other('memory').catch((error: Error) => ({ did: false, why: error.message }))).toMatchObject({ did: false });
  });
});

describe('shareFile and takeFile', () => {
  it('takes a result only when it is one', async () => {
    const [from, to] = [join(workDir, 'from'), join(workDir, 'to')];
    await symlink('/etc/passwd', from);
    await expect(takeFile(from, to)).rejects.toThrow(/something else/);
    await expect(stat(to)).rejects.toMatchObject({ code: 'ENOENT' });
    await writeFile(from, 'x');
    await takeFile(from, to);
    expect((await stat(to)).mode & 0o777).toBe(0o600);
  });

  it('copies what the reader could not open, and what cannot be linked', async () => {
    const source = join(workDir, 'private');
    await copyFile(world.pathOf('t0.parquet'), source);
    await chmod(source, 0o600);
    await shareFile(source, join(workDir, 'linked'), null);
    expect((await stat(source)).nlink).toBe(2);
    await shareFile(source, join(workDir, 'copied'), { uid: 60_706, gid: 60_706 });
    expect([(await stat(source)).nlink, (await stat(join(workDir, 'copied'))).mode & 0o777]).toEqual([2, 0o444]);
  });
});
