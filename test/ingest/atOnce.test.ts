import { afterAll, describe, expect, it } from 'vitest';
import { expireThings } from '../../activities/maintenance/expireThings.ts';
import type { components } from '../../schema/contract.ts';
import { ok } from '../setup/api.ts';
import { countLeft, listDrafts } from './leftovers.ts';
import { bare, makeXlsx, type UploadAnswer, useWorld } from './world.ts';

/** Several senders at the same moment. */

const world = await useWorld();
afterAll(async () => {
  // What a cancelled job writes down too late is swept.
  await expireThings(world.api.services, () => {});
  expect(await countLeft(world)).toMatchObject({ 'unfinished jobs': 0, 'job drafts': 0, claims: 0, 'blob drafts': 0 });
});

const six = Array.from({ length: 6 }, (_, n) => n);

async function readAll(answers: Response[]): Promise<{ status: number; body: UploadAnswer & { type?: string } }[]> {
  return Promise.all(answers.map(async (answer) => ({ status: answer.status, body: (await answer.json()) as UploadAnswer })));
}

describe('uploadSource at once: the same file', () => {
  it('is ingested once and charged once, and answers everybody', async () => {
    const workbookId = await world.newWorkbook();
    const bytes = await makeXlsx({ Sheet1: bare(20) });
    const before = ok(await world.owner.client.GET('/api/v1/me')).credits;
    const answers = await readAll(await Promise.all(six.map(() => world.send('同.xlsx', bytes, { workbookId }))));
    expect(answers.filter(({ status }) => status !== 200 && status !== 201)).toEqual([]);
    expect(new Set(answers.map(({ body }) => body.source.id)).size).toBe(1);
    for (const { body } of answers) expect(body.artifacts.map(({ name }) => name)).toEqual(['同']);
    expect(answers.map(({ body }) => body.credits_charged).sort()).toEqual([0, 0, 0, 0, 0, 1]);
    const after = ok(await world.owner.client.GET('/api/v1/me')).credits;
    expect(before.remaining - after.remaining).toBe(1);
    const { rows } = await world.api.sql.query('SELECT count(*)::int AS n FROM sources WHERE workbook_id = $1', [workbookId]);
    expect(rows).toEqual([{ n: 1 }]);
  });

  it('under one key is one request', async () => {
    const workbookId = await world.newWorkbook();
    const options = { workbookId, key: 'at-once', fields: { structuring: 'skip' } };
    const answers = await readAll(await Promise.all(six.map(() => world.send('鍵.csv', 'a,b\n1,2\n', options))));
    const done = answers.filter(({ status }) => status === 201);
    expect(done.length).toBeGreaterThan(0);
    for (const { status, body } of answers)
      expect([status, body.type]).toEqual(status === 201 ? [201, undefined] : [409, 'urn:svc:problem:idempotency-in-progress']);
    expect(new Set(done.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });
});

describe('uploadSource at once: other files of one name', () => {
  it('get names of their own, and so do their tables', async () => {
    const workbookId = await world.newWorkbook();
    const answers = await readAll(
      await Promise.all(six.map((n) => world.send('月次.csv', `a,b\n${n},2\n`, { workbookId, fields: { structuring: 'skip' } }))),
    );
    expect(answers.map(({ status }) => status)).toEqual(six.map(() => 201));
    const names = ['月次', ...six.slice(1).map((n) => `月次_${n + 1}`)];
    expect(answers.map(({ body }) => body.source.name).sort()).toEqual(names.map((name) => `${name}.csv`).sort());
    expect(answers.flatMap(({ body }) => body.artifacts.map(({ name }) => name)).sort()).toEqual(names.sort());
  });
});

describe('putUpload at once: a slot', () => {
  it('takes one of several files', async () => {
    const params = { path: { workbook_id: world.workbookId } };
    const body = { filename: '枠.csv', structuring: 'skip' as const };
    const slot = ok(await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/uploads', { params, body }));
    const { pathname, search } = new URL(slot.upload_url ?? '');
    const answers = await Promise.all(
      six.map((n) => world.api.fetch(`${pathname}${search}`, { method: 'PUT', body: `a,b\n${n % 2},slot\n` })),
    );
    const taken = answers.filter(({ status }) => status === 200);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409, 409, 409]);
    const jobs = await Promise.all(taken.map(async (answer) => ((await answer.json()) as components['schemas']['Upload']).job_id));
    expect(new Set(jobs).size).toBe(1);
    await world.waitForJob(jobs[0] ?? '');
    expect(await listDrafts(world.api)).toEqual([]);
  });
});

describe('cancelJob at once: a job', () => {
  it('that is cancelled at any moment is either done or undone', async () => {
    for (const delayMs of [0, 5, 20, 50, 100, 200]) {
      const workbookId = await world.newWorkbook();
      const bytes = await makeXlsx({ Sheet1: bare(30 + delayMs) });
      const answer = await world.send('取消.xlsx', bytes, { workbookId, fields: { async: 'true' } });
      const { job_id } = (await answer.json()) as { job_id: string };
      await new Promise((resume) => setTimeout(resume, delayMs));
      const params = { path: { job_id } };
      await world.owner.client.POST('/api/v1/jobs/{job_id}/cancel', { params });
      const job = await world.waitForJob(job_id);
      const { sources } = ok(
        await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/sources', { params: { path: { workbook_id: workbookId } } }),
      );
      const outcome = sources.map(({ status, structuring }) => `${status} ${structuring}`);
      if (job.status === 'succeeded') expect([delayMs, outcome]).toEqual([delayMs, ['materialized structured']]);
      else {
        expect([job.error, outcome]).toEqual(['cancelled', expect.toBeOneOf([[], ['materialized raw_fallback']])]);
        // Whatever is left can be sent again.
        const again = await world.upload('取消.xlsx', bytes, { workbookId });
        expect([delayMs, again.structuring]).toEqual([delayMs, 'structured']);
      }
    }
  });
});
