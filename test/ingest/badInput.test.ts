import { describe, expect, it } from 'vitest';
import type { components } from '../../schema/contract.ts';
import { ok } from '../setup/api.ts';
import { badFiles } from './badFiles.ts';
import { expectRefusal, leavingNothing } from './leftovers.ts';
import { bare, makeXlsx, useWorld } from './world.ts';

/** Files that cannot become tables: a clear problem each, nothing left behind, the service up. */

const world = await useWorld();

const readLate = badFiles.filter(({ at }) => at === 'reading');
const readEarly = badFiles.filter(({ at }) => at === 'door');

describe('uploadSource: a bad file', () => {
  it.each(badFiles)('is refused: $what', async ({ name, make, ...expected }) => {
    await leavingNothing(world, async () => expectRefusal(await world.send(name, make()), expected));
  });
});

describe('uploadSource async: a bad file', () => {
  it.each(readLate)('is accepted and fails: $what', async ({ name, make, detail }) => {
    await leavingNothing(world, async () => {
      const answer = await world.send(name, make(), { fields: { async: 'true' } });
      expect(answer.status).toBe(202);
      const job = await world.waitForJob(((await answer.json()) as { job_id: string }).job_id);
      expect(job).toMatchObject({ status: 'failed', error: expect.stringMatching(detail) });
      expect(job.result).toBeUndefined();
      expect(job.error?.length).toBeLessThan(300);
    });
  });

  it.each(readEarly)('is refused at once: $what', async ({ name, make, ...expected }) => {
    const options = { fields: { async: 'true' } };
    await leavingNothing(world, async () => expectRefusal(await world.send(name, make(), options), expected));
  });
});

async function openSlot(filename: string): Promise<components['schemas']['Upload']> {
  const params = { path: { workbook_id: world.workbookId } };
  return ok(await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/uploads', { params, body: { filename } }));
}

async function readSlot(upload_id: string): Promise<components['schemas']['Upload']> {
  return ok(await world.owner.client.GET('/api/v1/uploads/{upload_id}', { params: { path: { upload_id } } }));
}

async function put(slot: components['schemas']['Upload'], bytes: Uint8Array): Promise<Response> {
  const { pathname, search } = new URL(slot.upload_url ?? '');
  return world.api.fetch(`${pathname}${search}`, { method: 'PUT', body: bytes as Uint8Array<ArrayBuffer> });
}

describe('putUpload: a bad file', () => {
  it.each(readEarly)('refuses and stays open: $what', async ({ name, make, ...expected }) => {
    const slot = await openSlot(name);
    await leavingNothing(world, async () => expectRefusal(await put(slot, make()), expected));
    expect(await readSlot(slot.upload_id)).toMatchObject({ status: 'pending', error: null, job_id: null });
  });

  it.each(readLate.slice(0, 6))('says that the ingest failed: $what', async ({ name, make, detail }) => {
    const slot = await openSlot(name);
    await leavingNothing(world, async () => {
      const answer = await put(slot, make());
      expect(answer.status).toBe(200);
      await world.waitForJob(((await answer.json()) as { job_id: string }).job_id);
    });
    expect(await readSlot(slot.upload_id)).toMatchObject({ status: 'uploaded', error: expect.stringMatching(detail), source: null });
  });

  it('takes another try after one that failed, and the same bytes again', async () => {
    const slot = await openSlot('second.csv');
    const first = (await (await put(slot, Buffer.from('a,"b\n'))).json()) as { job_id: string };
    await world.waitForJob(first.job_id);
    const second = await put(slot, Buffer.from('a,b\n1,2\n'));
    expect(second.status).toBe(200);
    const { job_id } = (await second.json()) as { job_id: string };
    expect(job_id).not.toBe(first.job_id);
    await world.waitForJob(job_id);
    expect(await readSlot(slot.upload_id)).toMatchObject({ status: 'ingested', error: null });
    expect((await put(slot, Buffer.from('a,b\n1,2\n'))).status).toBe(200);
    await expectRefusal(await put(slot, Buffer.from('a,b\n1,3\n')), {
      status: 409,
      slug: 'in-use',
      detail: /other bytes/,
      fix: /another slot/,
    });
  });
});

describe('analyzeSource: a bad file', () => {
  it.each(readLate.slice(0, 6))('is registered, and its analysis refused: $what', async ({ name, make, ...expected }) => {
    const workbookId = await world.newWorkbook();
    const { source } = await world.upload(name, make(), { workbookId, fields: { mode: 'staged' } });
    const path = `/api/v1/workbooks/${workbookId}/sources/${encodeURIComponent(source.name)}`;
    const analysis = await world.api.fetch(`${path}/analyze`, { method: 'POST', token: world.owner.session });
    // Blank sheets are no mistake until tables are asked for.
    if (expected.detail.test('No sheet')) return;
    await expectRefusal(analysis, expected);
    const shown = (await (await world.api.fetch(path, { token: world.owner.session })).json()) as components['schemas']['Source'];
    expect(shown).toMatchObject({ status: 'failed', error: expect.stringMatching(expected.detail) });
  });
});

describe('reviseSource: a bad file', () => {
  it.each(badFiles.filter(({ name }) => name.endsWith('.xlsx')))(
    'are refused and change nothing: $what',
    async ({ name, make, ...expected }) => {
      const workbookId = await world.newWorkbook();
      const { source } = await world.upload('在庫.xlsx', await makeXlsx({ Sheet1: bare(3) }), { workbookId });
      const path = `/api/v1/workbooks/${workbookId}/sources/${encodeURIComponent(source.name)}`;
      await leavingNothing(world, async () => expectRefusal(await world.send(name, make(), { path: `${path}/revise` }), expected));
      const shown = await (await world.api.fetch(path, { token: world.owner.session })).json();
      expect(shown).toEqual(source);
      expect(await world.readRows('在庫', workbookId)).toHaveLength(3);
    },
  );
});
