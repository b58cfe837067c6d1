import { describe, expect, it } from 'vitest';
import { isCollected, listReferencedKeys } from '../../store/pg/garbage.ts';
import { holdDraft, holdTables } from './hold.ts';
import { makeIncomeStatement, makeXlsx, scattered, useWorld } from './world.ts';

const world = await useWorld();

/** Files of a workbook that the collection would take, once they are old enough. */
async function listGarbage(workbookId: string): Promise<{ files: number; garbage: string[] }> {
  const { blobs, db } = world.api.services;
  const { rows } = await world.api.sql.query<{ account_id: string }>('SELECT account_id FROM workbooks WHERE id = $1', [workbookId]);
  const keys: string[] = [];
  for await (const { key } of blobs.list(`${rows[0]?.account_id}/${workbookId}`)) if (isCollected(key)) keys.push(key);
  const referred = await listReferencedKeys(db.pool, workbookId);
  return { files: keys.length, garbage: keys.filter((key) => !referred.has(key)) };
}

describe('collectBlobs: the files of an ingest', () => {
  it('are all referred to when it is done', async () => {
    const workbookId = await world.newWorkbook();
    await world.upload('損益.xlsx', await makeIncomeStatement(), { workbookId });
    await world.upload('乱.xlsx', await makeXlsx({ S: scattered() }), { workbookId });
    const { files, garbage } = await listGarbage(workbookId);
    expect(garbage).toEqual([]);
    // Two originals, two raw tables and the formulas of one, five structured tables with their cells and two with formulas.
    expect(files).toBe(2 + 3 + 10 + 2);
  });

  it('are referred to while they wait for their promotion', async () => {
    const workbookId = await world.newWorkbook();
    await world.stopWorker();
    const response = await world.send('損益.xlsx', await makeIncomeStatement(9), { workbookId, fields: { async: 'true' } });
    const { job_id: jobId } = (await response.json()) as { job_id: string };
    const structuring = await holdDraft(world.api.sql, jobId, 'tables');
    await world.startWorker();
    await expect.poll(async () => (await world.getJob(jobId)).progress?.stage, { timeout: 20_000 }).toBe('structure');
    const promoting = await holdTables(world.api.sql, workbookId);
    await structuring.letGo();
    await expect.poll(async () => (await world.getJob(jobId)).progress?.stage, { timeout: 20_000 }).toBe('promote');
    expect(await listGarbage(workbookId)).toEqual({ files: 1 + 2 + 12, garbage: [] });
    await promoting.letGo();
    expect((await world.waitForJob(jobId)).status).toBe('succeeded');
    expect((await listGarbage(workbookId)).garbage).toEqual([]);
  });

  it('of a file that is refused are its original alone, which nothing holds', async () => {
    const workbookId = await world.newWorkbook();
    expect((await world.send('空.xlsx', await makeXlsx({ S: [] }), { workbookId })).status).toBe(422);
    const { files, garbage } = await listGarbage(workbookId);
    expect([files, garbage.length]).toEqual([1, 1]);
  });
});
