import ExcelJS from 'exceljs';
import { describe, expect, it } from 'vitest';
import { isCollected, listReferencedKeys } from '../../store/pg/garbage.ts';
import { holdDraft, holdTables } from './hold.ts';
import { bare, makeIncomeStatement, makeXlsx, scattered, useWorld } from './world.ts';

const world = await useWorld();

/** Files of a workbook: those that the collection would take once they are old enough, and those that are not there but should be. */
async function listFiles(workbookId: string): Promise<{ files: number; garbage: string[]; missing: string[] }> {
  const { blobs, db } = world.api.services;
  const { rows } = await world.api.sql.query<{ account_id: string }>('SELECT account_id FROM workbooks WHERE id = $1', [workbookId]);
  const keys: string[] = [];
  for await (const { key } of blobs.list(`${rows[0]?.account_id}/${workbookId}`)) if (isCollected(key)) keys.push(key);
  const referred = await listReferencedKeys(db.pool, workbookId);
  const missing: string[] = [];
  for (const key of referred) if (key && !(await blobs.exists(key))) missing.push(key);
  return { files: keys.length, garbage: keys.filter((key) => !referred.has(key)), missing };
}

async function listGarbage(workbookId: string): Promise<{ files: number; garbage: string[] }> {
  const { missing, ...rest } = await listFiles(workbookId);
  expect(missing).toEqual([]);
  return rest;
}

/** The workbook with one more sheet, which holds a plain table. */
async function addSheet(file: Buffer | Uint8Array, rows: number): Promise<Buffer> {
  const book = new ExcelJS.Workbook();
  await book.xlsx.load(Buffer.from(file) as never);
  book.addWorksheet('在庫').addRows(bare(rows));
  return Buffer.from(await book.xlsx.writeBuffer());
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
    await expect.poll(async () => (await world.getJob(jobId)).progress?.stage).toBe('structure');
    const promoting = await holdTables(world.api.sql, workbookId);
    await structuring.letGo();
    await expect.poll(async () => (await world.getJob(jobId)).progress?.stage).toBe('promote');
    expect(await listGarbage(workbookId)).toEqual({ files: 1 + 2 + 12, garbage: [] });
    await promoting.letGo();
    expect((await world.waitForJob(jobId)).status).toBe('succeeded');
    expect((await listGarbage(workbookId)).garbage).toEqual([]);
  });

  it('of all versions of a tracked file are referred to; what was written twice is gone', async () => {
    const workbookId = await world.newWorkbook();
    const links = `/api/v1/workbooks/${workbookId}/file-links`;
    const made = await world.send('在庫.xlsx', await makeXlsx({ S: bare(3) }), { path: `${links}/local` });
    const { file_link: link } = (await made.json()) as { file_link: { id: string } };
    const pushed = await world.send('在庫.xlsx', await makeXlsx({ S: bare(4) }), { path: `${links}/${link.id}/versions` });
    expect(pushed.status).toBe(200);
    // Two originals; a raw table, a structured one and its cells, each as it was and as it is.
    expect(await listGarbage(workbookId)).toEqual({ files: 2 + 6, garbage: [] });
    const first = await world.api.fetch(`${links}/${link.id}/versions/1/download`, { token: world.owner.session });
    expect(first.status).toBe(200);
  });

  it('of tables that a new version of the file leaves as they are stay, for this version and the ones before', async () => {
    const workbookId = await world.newWorkbook();
    const links = `/api/v1/workbooks/${workbookId}/file-links`;
    const statement = await makeIncomeStatement();
    const made = await world.send('二枚.xlsx', await addSheet(statement, 3), { path: `${links}/local` });
    const { file_link: link } = (await made.json()) as { file_link: { id: string } };
    for (const rows of [4, 5]) {
      const pushed = await world.send('二枚.xlsx', await addSheet(statement, rows), { path: `${links}/${link.id}/versions` });
      expect(pushed.status).toBe(200);
      expect((await listFiles(workbookId)).missing).toEqual([]);
    }
  });

  it('of a file that is refused are its original alone, which nothing holds', async () => {
    const workbookId = await world.newWorkbook();
    expect((await world.send('空.xlsx', await makeXlsx({ S: [] }), { workbookId })).status).toBe(422);
    const { files, garbage } = await listGarbage(workbookId);
    expect([files, garbage.length]).toEqual([1, 1]);
  });
});
