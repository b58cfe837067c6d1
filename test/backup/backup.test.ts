import { readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anchorChains } from '../../activities/audit/anchorChains.ts';
import { isWhole } from '../../activities/backup/files.ts';
import { makeBackup } from '../../activities/backup/makeBackup.ts';
import { listBackups, type Manifest, putManifest } from '../../activities/backup/manifest.ts';
import { checkBackup, type RestoreOptions, restoreBackup } from '../../activities/backup/restoreBackup.ts';
import { sweepJobs } from '../../activities/jobs/sweepJobs.ts';
import { startWorker } from '../../activities/worker.ts';
import { startApi } from '../../api/server.ts';
import { openSnapshot } from '../../store/backup/snapshot.ts';
import type { BlobStore } from '../../store/blobs/blobStore.ts';
import type { Service } from '../../store/lifecycle.ts';
import { makeJob } from '../contract/world.ts';
import { connectTo, ok, type Person, startTestApi, type TestApi, testConfig } from '../setup/api.ts';
import { forEverybody, openSql } from '../setup/everybody.ts';
import { editRows } from '../setup/tables.ts';
import { environmentOf } from '../setup/workerProcess.ts';
import { damage, digestTables, fillWorkbook, listKeys, openPlaces, type Places, partsOf, runCommand } from './world.ts';

/** Backups of an installation with real data, restored into empty places. */

const base = '/api/v1/workbooks/{workbook_id}' as const;
let places: Places;
let api: TestApi;
let owner: Person;
let worker: Service | null;
let workbookId: string;

beforeAll(async () => {
  places = await openPlaces();
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  owner = await api.signUp('Owner');
  worker = await startWorker(api.config);
  workbookId = await fillWorkbook(api, owner.session, owner.client);
});
afterAll(async () => {
  await worker?.stop();
  await api.stop();
  await places.remove();
});

const anchorAll = () => anchorChains(api.services, '', { heartbeat() {}, signal: undefined } as never);
const options: RestoreOptions = { name: null, otherSecret: false, goOn: false };

/** An API over what was restored, for the owner whose session was backed up with it. */
async function withRestored<T>(
  databaseUrl: string,
  env: Record<string, string>,
  work: (server: ReturnType<typeof connectTo>, services: TestApi['services']) => Promise<T>,
): Promise<T> {
  const running = await startApi(testConfig(databaseUrl, { SVC_RATE_LIMITS: 'off', ...env }));
  try {
    return await work(connectTo(`http://127.0.0.1:${running.port}`, api.contract), forEverybody(running.services));
  } finally {
    await running.stop();
  }
}

async function readEverything(server: Pick<TestApi, 'as' | 'fetch'>): Promise<Record<string, unknown>> {
  const client = server.as(owner.session);
  const path = { workbook_id: workbookId };
  const { tables } = ok(await client.GET(`${base}/tables`, { params: { path } }));
  const read: Record<string, unknown> = { tables };
  for (const { name, edit_version } of tables) {
    const rows = await server.fetch(`/api/v1/workbooks/${workbookId}/tables/${encodeURIComponent(name)}/data?format=csv`, {
      token: owner.session,
    });
    expect([name, rows.status]).toEqual([name, 200]);
    read[`${name}@${edit_version}`] = await rows.text();
    const first = { path: { ...path, name }, query: { at_version: 1, limit: 5 } };
    read[`${name}@1`] = await client.GET(`${base}/tables/{name}/rows`, { params: first }).then(({ data }) => data);
  }
  const audit = { path, query: { limit: 100 } };
  const { chain_valid, entries } = ok(await client.GET(`${base}/audit-log`, { params: audit }));
  expect(chain_valid).toBe(true);
  read.audit = entries;
  const exported = await server.fetch(`/api/v1/workbooks/${workbookId}/export`, {
    method: 'POST',
    token: owner.session,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ tables: ['表'], format: 'csv' }),
  });
  expect(exported.status).toBe(200);
  read.export = await exported.text();
  return read;
}

it('is of one moment while edits go on', async () => {
  const { store: place } = await places.bucket();
  const stop = new AbortController();
  let edits = 0;
  const editing = (async () => {
    while (!stop.signal.aborted) {
      // Both tables change in one workbook, one after the other, and so does its audit chain.
      await editRows(owner.client, workbookId, '表', [{ __svc_row_id: 9, 名: `編集 ${edits}` }]);
      edits += 1;
      if (edits % 5 === 0) await anchorAll();
    }
  })();
  await expect.poll(() => edits).toBeGreaterThan(3);
  await makeBackup(partsOf(api, place)).finally(() => stop.abort());
  await editing;
  const database = await places.database();
  const { dir, store } = await places.folder();
  await restoreBackup({ ...partsOf(api, place), databaseUrl: database.url, blobs: store }, options);
  await withRestored(database.url, { BLOB_URL: dir }, async (server) => {
    const client = server.as(owner.session);
    const { tables } = ok(await client.GET(`${base}/tables`, { params: { path: { workbook_id: workbookId } } }));
    const version = tables.find(({ name }) => name === '表')?.edit_version ?? 0;
    const read = async (from: Pick<TestApi, 'fetch'>, query: string) => {
      const answer = await from.fetch(`/api/v1/workbooks/${workbookId}/tables/${encodeURIComponent('表')}/rows?limit=10000${query}`, {
        token: owner.session,
      });
      return ((await answer.json()) as { rows: unknown[] }).rows;
    };
    const restored = await read(server, '');
    expect(restored.length).toBe(3000);
    expect(restored).toEqual(await read(api, `&at_version=${version}`));
    const audit = { path: { workbook_id: workbookId }, query: { limit: 1 } };
    expect(ok(await client.GET(`${base}/audit-log`, { params: audit })).chain_valid).toBe(true);
  });
});

describe('a quiet installation', () => {
  let place: BlobStore;
  let manifest: Manifest;
  let digests: Record<string, string>;
  let running: string;
  let pending: string;

  beforeAll(async () => {
    ({ store: place } = await places.folder());
    const { account_id: accountId } = ok(await owner.client.GET('/api/v1/me'));
    await anchorAll();
    // It would sweep the jobs as well.
    await worker?.stop();
    worker = null;
    const seed = { accountId, userId: owner.userId, workbookId, kind: 'recompute' } as const;
    running = await makeJob(api, { ...seed, status: 'running' });
    pending = await makeJob(api, { ...seed, status: 'pending' });
    await api.sql.query("UPDATE jobs SET admitted_at = now() - interval '1 hour' WHERE id = ANY ($1)", [[running, pending]]);
    // Requests are counted a second later.
    for (let before: Record<string, string> | null = null; ; await delay(200)) {
      manifest = await makeBackup(partsOf(api, place));
      digests = await digestTables(api.config.databaseUrl);
      if (JSON.stringify(before) === JSON.stringify(digests)) break;
      before = digests;
    }
  });

  it('comes back row by row and file by file, from a folder into a bucket, and goes on', async () => {
    const database = await places.database();
    const { env, store } = await places.bucket();
    await restoreBackup({ ...partsOf(api, place), databaseUrl: database.url, blobs: store }, options);
    expect(await digestTables(database.url)).toEqual(digests);
    expect(Object.values(digests).filter((digest) => !digest.startsWith('0 ')).length).toBeGreaterThan(25);
    const restored = await listKeys(store);
    expect(restored.length).toBe(manifest.files.count);
    expect(restored).toEqual((await listKeys(place)).filter((key) => !key.startsWith('backups/')));

    await withRestored(database.url, env, async (server, services) => {
      expect(await readEverything(server)).toEqual(await readEverything(api));
      // Sequences, triggers and references work on.
      const client = server.as(owner.session);
      await editRows(client, workbookId, '表', [{ __svc_row_id: 1, 名: '続き' }]);
      const fresh = { path: { workbook_id: workbookId }, query: { limit: 1 } };
      expect(ok(await client.GET(`${base}/audit-log`, { params: fresh })).chain_valid).toBe(true);

      await sweepJobs(services, { heartbeat() {} } as never);
      const { rows } = await services.db.pool.query('SELECT id, status FROM jobs WHERE id = ANY ($1) ORDER BY created_at', [
        [running, pending],
      ]);
      expect(rows).toEqual([
        { id: running, status: 'failed' },
        { id: pending, status: 'pending' },
      ]);
      const { client: temporal } = await services.temporal();
      const { status } = await temporal.workflow.getHandle(`test-${pending}`).describe();
      expect(status.name).toBe('RUNNING');
      await temporal.workflow.getHandle(`test-${pending}`).terminate('the test is over');
    });

    // And from a bucket into a folder.
    const second = await places.folder();
    const again = await makeBackup({ ...partsOf(api, second.store), databaseUrl: database.url, blobs: store });
    expect((await checkBackup(partsOf(api, second.store), again.name)).lost).toEqual([]);
  });

  it('has the wall between accounts again', async () => {
    const database = await places.database();
    const { store } = await places.folder();
    await restoreBackup({ ...partsOf(api, place), databaseUrl: database.url, blobs: store }, options);
    const shape = `SELECT relname, relrowsecurity, relforcerowsecurity,
        (SELECT count(*) FROM pg_constraint WHERE conrelid = c.oid)::int AS constraints,
        (SELECT count(*) FROM pg_trigger WHERE tgrelid = c.oid AND tgenabled = 'O')::int AS triggers
      FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY relname`;
    const { services, stop } = await startApi(testConfig(database.url));
    try {
      expect((await services.db.pool.query(shape)).rows).toEqual((await api.sql.query(shape)).rows);
    } finally {
      await stop();
    }
  });

  it('copies only new files the next time', async () => {
    const before = await listKeys(place);
    await editRows(
      owner.client,
      workbookId,
      '表',
      Array.from({ length: 3000 }, (_, n) => ({ 名: `新 ${n}`, 値: n })),
    );
    const next = await makeBackup(partsOf(api, place));
    const added = (await listKeys(place)).filter((key) => !before.includes(key) && !key.startsWith('backups/'));
    expect(added.length).toBeGreaterThan(0);
    expect(added.length).toBeLessThan(4);
    expect([...(await listBackups(place)).keys()].at(-1)).toBe(next.name);
    // The older one is still whole.
    expect((await checkBackup(partsOf(api, place), manifest.name)).name).toBe(manifest.name);
  });

  it.each<[string, RegExp, (key: { table: string; file: string; dir: string }) => Promise<void>]>([
    ['a file that was changed', /corrupt/, ({ dir, file }) => damage(join(dir, file))],
    ['rows that were changed', /corrupt/, ({ dir, table }) => damage(join(dir, table))],
    ['a file that is gone', /missing/, ({ dir, file }) => rm(join(dir, file))],
    ['rows that are gone', /missing/, ({ dir, table }) => rm(join(dir, table))],
  ])('is refused with %s, and nothing is changed', async (_, why, harm) => {
    const own = await places.folder();
    const made = await makeBackup(partsOf(api, own.store));
    const file = (await listKeys(own.store)).find((key) => key.includes('/tbl_')) as string;
    await harm({ dir: own.dir, file, table: made.tables.find(({ name }) => name === 'tables')?.key as string });
    const database = await places.database();
    const { store } = await places.folder();
    const restoring = restoreBackup({ ...partsOf(api, own.store), databaseUrl: database.url, blobs: store }, options);
    await expect(restoring).rejects.toThrow(why);
    expect(await listKeys(store)).toEqual([]);
    expect(await digestTables(database.url)).toEqual({});
  });

  it('has a file that was damaged in the place copied anew', async () => {
    const own = await places.folder();
    const parts = partsOf(api, own.store);
    await makeBackup(parts);
    const [cut, changed] = (await listKeys(own.store)).filter((key) => key.includes('/tbl_')) as [string, string];
    await truncate(join(own.dir, cut), 10);
    await damage(join(own.dir, changed));
    const next = await makeBackup(parts);
    // Sizes are compared by each backup; who has it checked finds the rest.
    await expect(checkBackup(parts, next.name)).rejects.toThrow(changed);
    expect((await checkBackup(parts, next.name, parts.blobs)).lost).toEqual([]);
    expect((await checkBackup(parts, next.name)).files.count).toBe(next.files.count);
  });

  it('is restored by a second try when the first broke off', async () => {
    const database = await places.database();
    const { dir, store } = await places.folder();
    const parts = { ...partsOf(api, place), databaseUrl: database.url, blobs: store };
    let left = 5;
    const failing = Object.create(store, {
      put: {
        value: async (...args: Parameters<BlobStore['put']>) => {
          left -= 1;
          if (left < 0) throw new Error('the disk is full');
          return store.put(...args);
        },
      },
    }) as BlobStore;
    await expect(restoreBackup({ ...parts, blobs: failing }, options)).rejects.toThrow(/disk is full/);
    const half = await listKeys(store);
    expect(half).toHaveLength(5);
    await damage(join(dir, half[0] as string));
    await expect(restoreBackup(parts, options)).rejects.toThrow(/go on with --continue/);
    const goOn = { ...options, goOn: true };
    const foreign = await store.draft();
    await writeFile(foreign, 'of somebody else');
    const { key } = await store.put('acc_other/wb_other/sources', foreign, 'csv');
    await expect(restoreBackup(parts, goOn)).rejects.toThrow(/1 files that are not in the backup/);
    await store.remove(key);
    const { name } = await restoreBackup(parts, goOn);
    const rows = await digestTables(database.url);
    // Once more is no harm, until somebody has worked with it.
    expect((await restoreBackup(parts, { ...goOn, name })).name).toBe(name);
    expect(await digestTables(database.url)).toEqual(rows);
    expect((await checkBackup({ ...parts, place }, name)).files.count).toBe((await listKeys(store)).length);
    for (const each of await listKeys(store)) expect([each, await isWhole(store, each)]).toEqual([each, true]);
    const sql = openSql(database.url, 1);
    await sql.query('DELETE FROM named_versions');
    await sql.end();
    await expect(restoreBackup(parts, goOn)).rejects.toThrow(/database is not empty/);
  });

  it('is not cut off by a database that ends idle transactions', async () => {
    const snapshot = await openSnapshot(`${api.config.databaseUrl}&options=-c%20idle_in_transaction_session_timeout%3D100`);
    try {
      await delay(400);
      expect(await snapshot.listWorkbooks('', 1)).toHaveLength(1);
    } finally {
      await snapshot.close();
    }
  });

  it('is not restored over anything, with another secret, by an older release or under a wrong name', async () => {
    const parts = partsOf(api, place);
    const database = await places.database();
    const { store } = await places.folder();
    const empty = { ...parts, databaseUrl: database.url, blobs: store };
    const refuse = (changes: Partial<typeof parts>, with_ = options) => restoreBackup({ ...empty, ...changes }, with_);
    await expect(refuse({ databaseUrl: api.config.databaseUrl })).rejects.toThrow(/database is not empty/);
    await expect(refuse({ blobs: api.services.blobs })).rejects.toThrow(/blob store is not empty/);
    await expect(refuse({ secret: 'another secret, which is long enough' })).rejects.toThrow(/SVC_SECRET is not that/);
    await expect(refuse({}, { ...options, name: '2020' })).rejects.toThrow(/There is no backup 2020/);
    await expect(refuse({ place: store })).rejects.toThrow(/no finished backup/);
    const { store: newer } = await places.folder();
    await putManifest(newer, { ...manifest, migrations: [...manifest.migrations, 'of the future'] });
    await expect(refuse({ place: newer })).rejects.toThrow(/newer release/);
    expect(await digestTables(database.url)).toEqual({});
    expect(await listKeys(store)).toEqual([]);
  });

  it('takes the rows anew when files were purged meanwhile', async () => {
    const own = await places.folder();
    const { rows } = await api.sql.query<{ key: string }>('SELECT blob_key AS key FROM results WHERE blob_key IS NOT NULL LIMIT 1');
    const key = rows[0]?.key as string;
    const blobs = Object.create(api.services.blobs, {
      read: {
        value: async (wanted: string) => {
          if (wanted === key) {
            await api.sql.query('DELETE FROM results WHERE blob_key = $1', [key]);
            await api.services.blobs.remove(key);
          }
          return api.services.blobs.read(wanted);
        },
      },
    }) as BlobStore;
    const made = await makeBackup({ ...partsOf(api, own.store), blobs });
    expect(made.lost).toEqual([]);
    expect((await checkBackup(partsOf(api, own.store), made.name)).files.count).toBe(made.files.count);
    expect(await listKeys(own.store)).not.toContain(key);
  });

  it('is made and restored by the commands', async () => {
    const { dir: placeDir } = await places.folder();
    const { dir: blobDir, store } = await places.folder();
    const database = await places.database();
    const own = { ...environmentOf(api.config), BLOB_URL: join(api.config.dataDir, 'blobs') };
    const made = await runCommand(['backup', placeDir, '--check'], own);
    expect(made).toMatchObject({ code: 0, text: expect.stringContaining('SVC_SECRET is not part of it') });
    // Nobody else can read what is everybody's.
    for (const entry of await readdir(placeDir, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.name !== '.drafts') expect([path, (await stat(path)).mode & 0o777]).toEqual([path, entry.isDirectory() ? 0o700 : 0o600]);
    }
    const restored = { ...own, DATABASE_URL: database.url, BLOB_URL: blobDir, BACKUP_URL: placeDir };
    expect(await runCommand(['restore', '--check'], restored)).toMatchObject({ code: 0, text: expect.stringContaining('is whole') });
    expect(await runCommand(['restore'], restored)).toMatchObject({ code: 0, text: expect.stringContaining('Restored') });
    expect((await listKeys(store)).length).toBeGreaterThan(0);
    expect((await digestTables(database.url)).tables).toBe((await digestTables(api.config.databaseUrl)).tables);
    expect(await runCommand(['restore'], restored)).toMatchObject({ code: 1, text: expect.stringContaining('is not empty') });
    expect(await runCommand(['restore', '--force'], restored)).toMatchObject({
      code: 1,
      text: expect.stringContaining('no option --force'),
    });
    expect(await runCommand(['backup'], own)).toMatchObject({ code: 1, text: expect.stringContaining('BACKUP_URL') });
  });

  it('says which files the installation itself has lost', async () => {
    const own = await places.folder();
    const { rows } = await api.sql.query<{ key: string }>('SELECT blob_key AS key FROM sources WHERE workbook_id = $1', [workbookId]);
    const key = rows[0]?.key as string;
    await api.services.blobs.remove(key);
    const made = await makeBackup(partsOf(api, own.store));
    expect(made.lost).toEqual([key]);
    const database = await places.database();
    const { store } = await places.folder();
    await restoreBackup({ ...partsOf(api, own.store), databaseUrl: database.url, blobs: store }, options);
    expect(await listKeys(store)).not.toContain(key);
  });
});
