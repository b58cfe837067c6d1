import { access, utimes, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { compactTable } from '../../activities/compaction/compactTable.ts';
import { collectBlobs, collectVersions } from '../../activities/maintenance/collectGarbage.ts';
import { expireThings } from '../../activities/maintenance/expireThings.ts';
import { compactionLimits } from '../../core/table/compactionLimits.ts';
import type { BlobStore } from '../../store/blobs/blobStore.ts';
import { ok, refused } from '../setup/api.ts';
import { editRows } from '../setup/tables.ts';
import type { TestStore } from '../tables/store.ts';
import { keepHistory, replayHistory } from './replay.ts';
import { useStoreWithWorker } from './storeWithWorker.ts';

const store = await useStoreWithWorker();

const quiet = { heartbeat() {} };
const thorough = { ...compactionLimits, tail: 0, deltas: 1 };
const base = '/api/v1/workbooks/{workbook_id}' as const;

async function listBlobs(own: TestStore): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of own.services.blobs.list(`${own.workbook.accountId}/${own.workbook.id}`)) keys.push(key);
  return keys.sort();
}

/** As if all files of the workbook had been written two days ago. */
async function ageBlobs(own: TestStore): Promise<void> {
  const keys = await listBlobs(own);
  const opened = await own.services.blobs.open(keys);
  const then = new Date(Date.now() - 48 * 3_600_000);
  for (const key of keys) await utimes(opened.pathOf(key), then, then);
  opened.release();
}

const ageVersions = (tableId: string, days: number) =>
  store.api.sql.query('UPDATE table_versions SET created_at = created_at - make_interval(days => $2) WHERE table_id = $1', [tableId, days]);
const ageNotes = () => store.api.sql.query("UPDATE garbage_blobs SET seen_at = seen_at - interval '25 hours'");
const collect = async () => {
  const versions = await collectVersions(store.services, quiet);
  return { ...versions, ...(await collectBlobs(store.services, '', quiet)) };
};
const readAt = (own: TestStore, name: string, at_version: number) =>
  own.owner.client.GET(`${base}/tables/{name}/rows`, { params: { path: { workbook_id: own.workbook.id, name }, query: { at_version } } });

describe('collectBlobs and collectVersions: garbage', () => {
  it('are versions that nothing refers to, 30 days after they were replaced; pinned and current ones stay', async () => {
    const own = await store.another();
    const id = await own.makeTable('t', [{ name: 'a', type: 'BIGINT' }]);
    for (let a = 0; a < 3; a += 1) await own.upsert('t', [{ a }]);
    ok(await own.owner.client.POST(`${base}/versions`, { params: { path: { workbook_id: own.workbook.id } }, body: { label: 'v' } }));
    for (let a = 3; a < 5; a += 1) await own.upsert('t', [{ a }]);
    await collect();
    expect(await own.listVersions(id)).toEqual([1, 2, 3, 4, 5, 6]);
    // All but the newest are 31 days old: version 5 was replaced only now.
    await ageVersions(id, 31);
    await store.api.sql.query('UPDATE table_versions SET created_at = now() WHERE table_id = $1 AND edit_version = 6', [id]);
    expect(await collect()).toMatchObject({ versions: 3 });
    expect(await own.listVersions(id)).toEqual([4, 5, 6]);
    refused(await readAt(own, 't', 2), 410, 'expired');
    ok(await readAt(own, 't', 4));
    await ageVersions(id, 31);
    await collect();
    expect(await own.listVersions(id)).toEqual([4, 6]);
    expect((await own.readContent(id, 4)).rows.length).toBe(3);
    // History is not content: the log stays.
    const { rows } = await store.api.sql.query('SELECT count(*)::int AS n FROM row_log WHERE table_id = $1', [id]);
    expect(rows[0].n).toBe(5);
  });

  it('are files that nothing refers to, noted first and removed a day later; files in use never', async () => {
    const own = await store.another();
    const id = await own.makeLargeTable('t', 2000);
    const put: BlobStore['put'] = async (...args) => {
      await own.services.blobs.put(...args);
      throw new Error('killed');
    };
    const dying = { ...own.services, blobs: Object.create(own.services.blobs, { put: { value: put } }) as BlobStore };
    const before = await listBlobs(own);
    await own.upsert('t', [{ __svc_row_id: 1, t: 'x' }]);
    await expect(
      own.upsert(
        't',
        Array.from({ length: 1100 }, (_, i) => ({ __svc_row_id: i + 1, n: 0 })),
        null,
        dying,
      ),
    ).rejects.toThrow('killed');
    await expect(compactTable(dying, id, quiet, thorough)).rejects.toThrow('killed');
    expect((await listBlobs(own)).length).toBe(before.length + 2);

    // Young ones may be waiting for their transaction.
    expect(await collect()).toMatchObject({ removed: 0, suspected: 0 });
    await ageBlobs(own);
    expect(await collect()).toMatchObject({ removed: 0, suspected: 2 });
    expect(await collect()).toMatchObject({ removed: 0, suspected: 2 });
    await ageNotes();
    expect(await collect()).toMatchObject({ removed: 2, suspected: 0 });
    expect(await listBlobs(own)).toEqual(before);
    expect((await own.readContent(id)).rows.length).toBe(2000);

    // A compaction leaves the old segment to the versions before it; it goes with them.
    expect(await compactTable(own.services, id, quiet, thorough)).toBe('compacted');
    await ageBlobs(own);
    expect(await collect()).toMatchObject({ suspected: 0 });
    expect((await own.readContent(id, 1)).rows.length).toBe(2000);
    await ageVersions(id, 31);
    expect(await collect()).toMatchObject({ manifests: 1, suspected: 1 });
    await ageNotes();
    expect(await collect()).toMatchObject({ removed: 1 });
    expect((await own.readContent(id)).rows.length).toBe(2000);
  });

  it('are not the files of large edits, which history reads', async () => {
    const own = await store.another();
    const id = await own.makeLargeTable('t', 2000);
    await own.upsert(
      't',
      Array.from({ length: 1100 }, (_, i) => ({ __svc_row_id: i + 1, n: 0 })),
    );
    expect(await compactTable(own.services, id, quiet, thorough)).toBe('compacted');
    await ageVersions(id, 31);
    await ageBlobs(own);
    await collect();
    await ageNotes();
    await collect();
    const { rows } = await store.api.sql.query<{ key: string }>('SELECT key FROM log_files WHERE table_id = $1', [id]);
    expect(rows.length).toBe(1);
    expect(await own.services.blobs.exists(rows[0]?.key as string)).toBe(true);
  });

  it('is not a file that something has come to refer to since it was noted', async () => {
    const own = await store.another();
    const id = await own.makeLargeTable('t', 10);
    await ageBlobs(own);
    const { rows } = await store.api.sql.query('SELECT layers FROM manifests WHERE table_id = $1', [id]);
    await store.api.sql.query("UPDATE manifests SET layers = '[]' WHERE table_id = $1", [id]);
    expect((await collectBlobs(store.services, '', quiet)).suspected).toBe(1);
    await ageNotes();
    await store.api.sql.query('UPDATE manifests SET layers = $2 WHERE table_id = $1', [id, JSON.stringify(rows[0].layers)]);
    expect(await collect()).toMatchObject({ removed: 0, suspected: 0 });
    expect((await store.api.sql.query('SELECT 1 FROM garbage_blobs')).rows).toEqual([]);
    expect((await own.readContent(id)).rows.length).toBe(10);
  });

  it('is not a file that is put again while it is looked at', async () => {
    const own = await store.another();
    const again = async () => {
      const draft = await own.services.blobs.draft();
      await writeFile(draft, 'sent before, and sent again');
      return own.services.blobs.put(`${own.workbook.accountId}/${own.workbook.id}/sources`, draft, 'csv');
    };
    const { key } = await again();
    await ageBlobs(own);
    expect((await collectBlobs(store.services, '', quiet)).suspected).toBe(1);
    await ageNotes();
    // Its sender is between the file and the transaction that will refer to it.
    const list: BlobStore['list'] = async function* (prefix) {
      yield* own.services.blobs.list(prefix);
      if (key.startsWith(prefix)) await again();
    };
    const blobs = Object.create(own.services.blobs, { list: { value: list } }) as BlobStore;
    expect(await collectBlobs({ ...own.services, blobs }, '', quiet)).toMatchObject({ removed: 0 });
    expect(await own.services.blobs.exists(key)).toBe(true);
    await own.services.blobs.remove(key);
  });

  it('are tables that were deleted, unless a snapshot holds them; those come back', async () => {
    const own = await store.another();
    const { client } = own.owner;
    const path = { workbook_id: own.workbook.id };
    const kept = await own.makeLargeTable('kept', 5);
    const { id: snapshot_id } = ok(await client.POST(`${base}/snapshots`, { params: { path }, body: { summary: 's' } }));
    const gone = await own.makeLargeTable('gone', 5);
    await own.upsert('kept', [{ n: 1 }]);
    const large = Array.from({ length: 1100 }, (_, n) => ({ n }));
    const { row_ids } = await editRows(client, own.workbook.id, 'gone', large);
    const rows = row_ids.map((__svc_row_id) => ({ __svc_row_id, n: 1 }));
    for (const edit of [rows, rows.slice(0, 1)]) await own.upsert('gone', edit);
    for (const name of ['kept', 'gone'])
      ok(await client.DELETE(`${base}/tables/{name}`, { params: { path: { ...path, name }, query: { expected_version: 'null' } } }));
    await store.api.sql.query("UPDATE tables SET deleted_at = deleted_at - interval '31 days' WHERE workbook_id = $1", [own.workbook.id]);
    await ageBlobs(own);
    await collect();
    await ageNotes();
    await collect();
    expect([await own.listVersions(kept), await own.listVersions(gone)]).toEqual([[1], []]);
    expect((await listBlobs(own)).map((key) => key.split('/')[2])).toEqual([kept]);
    // Nothing of what its rows were is left, and all of what the other's were.
    const counted = async (table: string, id: string) =>
      (await store.api.sql.query(`SELECT count(*)::int AS n FROM ${table} WHERE table_id = $1`, [id])).rows[0].n;
    expect([await counted('row_log', gone), await counted('log_files', gone), await counted('row_log', kept)]).toEqual([0, 0, 1]);
    ok(await client.POST(`${base}/snapshots/{snapshot_id}/restore`, { params: { path: { ...path, snapshot_id } } }));
    expect((await own.readContent(kept)).rows.length).toBe(5);
    expect(await own.currentVersion(kept)).toBe(3);
  });

  it('are results past their day and everything of a workbook that was deleted a month ago', async () => {
    const own = await store.another();
    const id = await own.makeLargeTable('t', 50);
    await own.upsert('t', [{ n: 1 }]);
    ok(await own.owner.client.POST(`${base}/versions`, { params: { path: { workbook_id: own.workbook.id } }, body: { label: 'v' } }));
    const large = 'SELECT i, n FROM range(80000) AS r(i), (SELECT count(*) AS n FROM t)';
    const run = async (sql: string) => {
      const body = { sql };
      return (
        ok(await own.owner.client.POST(`${base}/query`, { params: { path: { workbook_id: own.workbook.id } }, body })) as { id: string }
      ).id;
    };
    const readResult = (result_id: string) => own.owner.client.GET('/api/v1/results/{result_id}', { params: { path: { result_id } } });
    const [old, young, small] = [await run(large), await run(`${large} -- again`), await run('SELECT count(*) AS n FROM t')];
    const expire = (interval: string) =>
      store.api.sql.query('UPDATE results SET expires_at = now() - $2::interval WHERE id = $1', [old, interval]);
    await expire('1 minute');
    await ageBlobs(own);
    await collect();
    await ageNotes();
    expect(await collect()).toMatchObject({ removed: 1 });
    const { rows } = await store.api.sql.query<{ blob_key: string }>('SELECT blob_key FROM results WHERE id = $1', [young]);
    expect((await listBlobs(own)).filter((key) => key.includes('/results/'))).toEqual([rows[0]?.blob_key]);
    ok(await readResult(young));
    // That it was there and is over is known for longer than itself.
    expect(await expireThings(own.services, () => {})).toMatchObject({ results: 0 });
    refused(await readResult(old), 410, 'expired');
    // One that has no file of its own holds nothing any more, either.
    const kept = () => store.api.sql.query('SELECT content IS NOT NULL AS kept FROM results WHERE id = $1', [small]);
    expect((await kept()).rows).toEqual([{ kept: true }]);
    await store.api.sql.query('UPDATE results SET expires_at = now() WHERE id = $1', [small]);
    await expireThings(own.services, () => {});
    expect((await kept()).rows).toEqual([{ kept: false }]);
    await expire('8 days');
    const opened = await own.services.blobs.open(await listBlobs(own));
    const path = opened.pathOf((await listBlobs(own))[0] as string);
    opened.release();
    expect(await expireThings(own.services, () => {})).toMatchObject({ results: 1, workbooks: 0 });
    ok(await own.owner.client.DELETE(base, { params: { path: { workbook_id: own.workbook.id } } }));
    expect(await expireThings(own.services, () => {})).toMatchObject({ workbooks: 0 });
    await store.api.sql.query("UPDATE workbooks SET deleted_at = deleted_at - interval '31 days' WHERE id = $1", [own.workbook.id]);
    expect(await expireThings(own.services, () => {})).toMatchObject({ workbooks: 1 });
    for (const table of ['row_log', 'table_versions', 'manifests', 'table_columns', 'snapshot_tables'])
      expect((await store.api.sql.query(`SELECT 1 FROM ${table} WHERE table_id = $1`, [id])).rows).toEqual([]);
    await expect(access(path)).rejects.toThrow();
  });
});

describe('collectGarbage', () => {
  it('does all of it as a workflow, and replays as it ran', async () => {
    const [old, young] = [await store.services.blobs.draft(), await store.services.blobs.draft()];
    for (const path of [old, young]) await writeFile(path, 'half a file');
    const then = new Date(Date.now() - 25 * 3_600_000);
    await utimes(old, then, then);
    const { client } = await store.services.temporal();
    const handle = await client.workflow.start('collectGarbage', {
      workflowId: `collect-garbage-${store.workbook.id}`,
      taskQueue: store.api.config.temporal.taskQueue,
    });
    expect(await handle.result()).toMatchObject({ versions: expect.any(Number), blobs: expect.any(Number), drafts: 1 });
    await expect(access(old)).rejects.toThrow();
    await access(young);
    await keepHistory('collectGarbage', handle);
    await replayHistory('collectGarbage');
  });
});
