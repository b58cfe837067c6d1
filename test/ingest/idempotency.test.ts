import { describe, expect, it } from 'vitest';
import { makeNewFile, makeXlsx, type UploadAnswer, useWorld } from './world.ts';

const world = await useWorld();

const count = async (table: string, workbookId: string) =>
  Number((await world.api.sql.query<{ n: string }>(`SELECT count(*) AS n FROM ${table} WHERE workbook_id = $1`, [workbookId])).rows[0]?.n);
const readReply = async (response: Response) => ({
  status: response.status,
  body: Buffer.from(await response.arrayBuffer()).toString(),
  location: response.headers.get('location'),
  replayed: response.headers.get('idempotency-replayed'),
});

describe('uploadSource: an upload under a key', () => {
  it('is answered byte for byte like the first time', async () => {
    const workbookId = await world.newWorkbook();
    const bytes = await makeNewFile();
    const first = await readReply(await world.send('在庫.xlsx', bytes, { workbookId, key: 'once' }));
    expect(first).toMatchObject({ status: 201, replayed: null });
    const again = await readReply(await world.send('在庫.xlsx', bytes, { workbookId, key: 'once' }));
    expect(again).toEqual({ ...first, replayed: 'true' });
    expect(await count('sources', workbookId)).toBe(1);
  });

  it('is answered so also when the source has changed since', async () => {
    const workbookId = await world.newWorkbook();
    const bytes = await makeNewFile();
    const first = await readReply(await world.send('在庫.xlsx', bytes, { workbookId, key: 'kept', fields: { structuring: 'skip' } }));
    expect((await world.upload('在庫.xlsx', bytes, { workbookId })).structuring).toBe('structured');
    const again = await readReply(await world.send('在庫.xlsx', bytes, { workbookId, key: 'kept', fields: { structuring: 'skip' } }));
    expect(again).toEqual({ ...first, replayed: 'true' });
  });

  it('with async gives the same job, running or done', async () => {
    const workbookId = await world.newWorkbook();
    const bytes = await makeNewFile();
    const options = { workbookId, key: 'async', fields: { async: 'true' } };
    await world.stopWorker();
    const first = await readReply(await world.send('在庫.xlsx', bytes, options));
    expect(first.status).toBe(202);
    const second = await readReply(await world.send('在庫.xlsx', bytes, options));
    await world.startWorker();
    const { job_id: jobId } = JSON.parse(first.body) as { job_id: string };
    expect((await world.waitForJob(jobId)).status).toBe('succeeded');
    const third = await readReply(await world.send('在庫.xlsx', bytes, options));
    for (const reply of [second, third]) expect(reply).toMatchObject({ status: 202, body: first.body, location: first.location });
    expect(await count('jobs', workbookId)).toBe(1);
  });

  it.each([
    ['other bytes', async () => ({ name: '在庫.xlsx', bytes: await makeNewFile(), fields: {} })],
    ['another name', async (bytes: Uint8Array) => ({ name: '別.xlsx', bytes, fields: {} })],
    ['other fields', async (bytes: Uint8Array) => ({ name: '在庫.xlsx', bytes, fields: { structuring: 'skip' } })],
  ])('with %s is refused', async (what, change) => {
    const workbookId = await world.newWorkbook();
    const bytes = await makeNewFile();
    await world.upload('在庫.xlsx', bytes, { workbookId, key: `mismatch ${what}`.replace(' ', '-') });
    const other = await change(bytes);
    const response = await world.send(other.name, other.bytes, {
      workbookId,
      key: `mismatch ${what}`.replace(' ', '-'),
      fields: other.fields as Record<string, string>,
    });
    expect([response.status, ((await response.json()) as { type: string }).type]).toEqual([422, 'urn:svc:problem:idempotency-mismatch']);
    expect(await count('sources', workbookId)).toBe(1);
  });

  it('that is refused is refused again', async () => {
    const workbookId = await world.newWorkbook();
    const bytes = await makeXlsx({ S: [] });
    for (let n = 0; n < 2; n += 1) {
      const response = await world.send('空.xlsx', bytes, { workbookId, key: 'refused' });
      expect([response.status, ((await response.json()) as { type: string }).type]).toEqual([422, 'urn:svc:problem:validation-failed']);
    }
    expect(await count('jobs', workbookId)).toBe(1);
  });

  it('sent twenty times at once makes one source', async () => {
    const workbookId = await world.newWorkbook();
    const bytes = await makeNewFile();
    const before = (await world.readCredits()).used;
    const answers = await Promise.all(Array.from({ length: 20 }, () => world.send('在庫.xlsx', bytes, { workbookId, key: 'twenty' })));
    const made = answers.filter(({ status }) => status === 201);
    const busy = answers.filter(({ status }) => status === 409);
    expect(made.length + busy.length).toBe(20);
    expect(made.length).toBeGreaterThan(0);
    const bodies = new Set(await Promise.all(made.map((response) => response.text())));
    expect(bodies.size).toBe(1);
    for (const response of busy) expect(((await response.json()) as { type: string }).type).toBe('urn:svc:problem:idempotency-in-progress');
    expect([await count('sources', workbookId), await count('jobs', workbookId), await count('tables', workbookId)]).toEqual([1, 1, 2]);
    expect((await world.readCredits()).used).toBe(before + 1);
    const later = await world.send('在庫.xlsx', bytes, { workbookId, key: 'twenty' });
    expect([later.status, ((await later.json()) as UploadAnswer).source.name]).toEqual([201, '在庫.xlsx']);
  });
});
