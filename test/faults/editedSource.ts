import { expect } from 'vitest';
import { type Hold, holdSource } from '../ingest/hold.ts';
import { bare, type IngestWorld, makeXlsx } from '../ingest/world.ts';
import { editRows } from '../setup/tables.ts';

const filename = '在庫.xlsx';

/** A source whose table was edited, and which is revised while whoever does it is killed; by a push if its file is tracked. */
export async function makeEditedSource(world: IngestWorld, isTracked = false) {
  const workbookId = await world.newWorkbook();
  const bytes = await makeXlsx({ S: bare(3) });
  const { source } = await world.upload(filename, bytes, { workbookId });
  const links = `/api/v1/workbooks/${workbookId}/file-links`;
  const linkId = isTracked ? await track() : null;
  await editRows(
    world.owner.client,
    workbookId,
    '在庫',
    [
      { __svc_row_id: 1, 数量: 100 },
      { 品番: '手', 数量: 1 },
    ],
    null,
  );
  const { sql } = world.api;
  const read = async () => Object.fromEntries((await world.readRows('在庫', workbookId)).map(({ 品番, 数量 }) => [品番, 数量]));
  const old = { P0001: 100, P0002: 3, P0003: 6, 手: 1 };
  const merged = { ...old, P0004: 9, P0005: 12 };
  expect(await read()).toEqual(old);
  const findRevision = async () =>
    (await sql.query<{ id: string }>('SELECT id FROM jobs WHERE workbook_id = $1 ORDER BY created_at DESC LIMIT 1', [workbookId])).rows[0]
      ?.id;
  const countOps = async (kind: string) =>
    (await sql.query('SELECT 1 FROM ops WHERE scope = $1 AND kind = $2', [workbookId, kind])).rowCount;
  let revision = '';
  return {
    /** Sends the new file, without waiting for what comes of it; returns the job. */
    async begin(): Promise<string> {
      const before = await findRevision();
      const revise = `/api/v1/workbooks/${workbookId}/sources/${encodeURIComponent(filename)}/revise`;
      const path = linkId ? `${links}/${linkId}/versions` : revise;
      world.send(filename, await makeXlsx({ S: bare(5) }), { path }).catch(() => {});
      await expect.poll(findRevision).not.toBe(before);
      revision = (await findRevision()) as string;
      return revision;
    },
    /** Keeps the revision from changing anything, when it comes to that; `early` keeps it at the end of the stage before. */
    async hold(early: Hold): Promise<Hold> {
      await expect.poll(async () => (await world.getJob(revision)).progress?.stage).toBe('structure');
      const hold = await holdSource(sql, source.id);
      await early.letGo();
      await hold.reached();
      return hold;
    },
    /** Either all of it was done, or nothing. */
    async expectWhole(): Promise<void> {
      expect([old, merged]).toContainEqual(await read());
    },
    async expectOnce(jobId: string): Promise<void> {
      const result = linkId ? { changed: true, n: 2, artifacts: ['在庫'] } : { credits_charged: 1 };
      expect(await world.getJob(jobId)).toMatchObject({ status: 'succeeded', result });
      if (linkId) await expectVersions();
      expect(await read()).toEqual(merged);
      // The table and its raw copy are revised, and the edits of the table brought over.
      expect([await countOps('source.revise'), await countOps('merge.apply')]).toEqual([2, 1]);
      expect((await sql.query('SELECT 1 FROM job_drafts WHERE job_id = $1', [jobId])).rowCount).toBe(0);
    },
  };

  async function track(): Promise<string> {
    const answer = await world.send(filename, bytes, { path: `${links}/local` });
    return ((await answer.json()) as { file_link: { id: string } }).file_link.id;
  }

  /** The version is there once, with its bytes and its snapshot. */
  async function expectVersions(): Promise<void> {
    const { rows } = await sql.query<{ n: number; snapshots: number }>(
      `SELECT n, (SELECT count(*)::int FROM snapshots WHERE id = v.snapshot_id) AS snapshots FROM file_link_versions v WHERE link_id = $1 ORDER BY n`,
      [linkId],
    );
    expect(rows).toEqual([
      { n: 1, snapshots: 1 },
      { n: 2, snapshots: 1 },
    ]);
    expect((await sql.query('SELECT 1 FROM snapshots WHERE workbook_id = $1', [workbookId])).rowCount).toBe(2);
    const download = await world.api.fetch(`${links}/${linkId}/versions/2/download`, { token: world.owner.session });
    expect(download.status).toBe(200);
  }
}
