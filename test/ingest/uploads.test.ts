import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { components } from '../../schema/contract.ts';
import { deriveKey } from '../../store/secrets.ts';
import { ok, refused } from '../setup/api.ts';
import { mintToken } from '../setup/credentials.ts';
import { makeNewFile, makeXlsx, useWorld } from './world.ts';

type Upload = components['schemas']['Upload'];

const world = await useWorld();

async function open(workbookId = world.workbookId, body: Partial<components['schemas']['CreateUploadRequest']> = {}) {
  const slot = ok(
    await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/uploads', {
      params: { path: { workbook_id: workbookId } },
      body: { filename: '在庫.xlsx', ...body },
    }),
  );
  return { ...slot, address: pathOf(slot.upload_url as string) };
}

/** The public address is the server's idea of itself; the tests have it on a port of their own. */
const pathOf = (url: string) => url.replace(/^https?:\/\/[^/]+/, '');
/** Without any credential. */
const put = (path: string, bytes: Uint8Array) => world.api.fetch(path, { method: 'PUT', body: bytes as Uint8Array<ArrayBuffer> });
const look = async (id: string): Promise<Upload> =>
  ok(await world.owner.client.GET('/api/v1/uploads/{upload_id}', { params: { path: { upload_id: id } } }));
const slugOf = async (response: Response) => [
  response.status,
  ((await response.json()) as { type: string }).type.replace('urn:svc:problem:', ''),
];

async function waitFor(id: string, status: Upload['status'], hasError = false): Promise<Upload> {
  await expect.poll(async () => [(await look(id)).status, (await look(id)).error !== null]).toEqual([status, hasError]);
  return look(id);
}

describe('createUpload and putUpload: an upload slot', () => {
  it('takes the bytes by its address alone and ingests them', async () => {
    const workbookId = await world.newWorkbook();
    const slot = await open(workbookId);
    expect(slot).toMatchObject({
      status: 'pending',
      workbook_id: workbookId,
      filename: '在庫.xlsx',
      job_id: null,
      error: null,
      source: null,
      artifacts: [],
    });
    expect(Date.parse(slot.expires_at) - Date.now()).toBeGreaterThan(3_500_000);
    const bytes = await makeNewFile();
    const response = await put(slot.address, bytes);
    expect(response.status).toBe(200);
    const taken = (await response.json()) as Upload;
    expect(taken).toMatchObject({ status: 'uploaded', error: null });
    expect(taken).not.toHaveProperty('upload_url');
    const done = await waitFor(slot.upload_id, 'ingested');
    expect(done).toMatchObject({
      artifacts: ['在庫'],
      source: { name: '在庫.xlsx', provenance: { kind: 'upload_slot' }, structuring: 'structured' },
    });
    expect(await world.readRows('在庫', workbookId)).toHaveLength(4);
    const job = await world.getJob(taken.job_id as string);
    expect(job).toMatchObject({ status: 'succeeded', result: { structuring: 'structured' } });
    expect((await world.readEvents(workbookId)).at(-1)?.type).toBe('job.completed');
    // Whoever opened it is who did it.
    const { rows } = await world.api.sql.query<{ actor: string }>(
      "SELECT DISTINCT actor FROM audit_entries WHERE scope = $1 AND action LIKE 'source.%'",
      [workbookId],
    );
    expect(rows).toEqual([{ actor: '持ち主' }]);
  });

  it('is used once: the same bytes again are answered alike, others refused', async () => {
    const workbookId = await world.newWorkbook();
    const slot = await open(workbookId);
    const bytes = await makeNewFile();
    const first = (await (await put(slot.address, bytes)).json()) as Upload;
    const again = await put(slot.address, bytes);
    expect([again.status, ((await again.json()) as Upload).job_id]).toEqual([200, first.job_id]);
    expect(await slugOf(await put(slot.address, await makeNewFile()))).toEqual([409, 'in-use']);
    await waitFor(slot.upload_id, 'ingested');
    const after = await put(slot.address, bytes);
    expect([after.status, ((await after.json()) as Upload).status]).toEqual([200, 'ingested']);
    expect(await slugOf(await put(slot.address, await makeNewFile()))).toEqual([409, 'in-use']);
    expect((await world.api.sql.query('SELECT 1 FROM sources WHERE workbook_id = $1', [workbookId])).rowCount).toBe(1);
  });

  it('follows mode and structuring', async () => {
    const staged = await open(await world.newWorkbook(), { mode: 'staged' });
    const answer = (await (await put(staged.address, await makeNewFile())).json()) as Upload;
    expect(answer).toMatchObject({ status: 'ingested', job_id: null, source: { status: 'registered', mode: 'staged' }, artifacts: [] });
    const skipped = await open(await world.newWorkbook(), { structuring: 'skip' });
    await put(skipped.address, await makeNewFile());
    expect(await waitFor(skipped.upload_id, 'ingested')).toMatchObject({ source: { structuring: 'skipped' } });
  });

  it('refuses a signature that is wrong, altered or missing', async () => {
    const [slot, other] = [await open(), await open()];
    const bytes = await makeNewFile();
    const url = new URL(slot.address, 'http://x');
    const alter = (change: (query: URLSearchParams) => void) => {
      const query = new URLSearchParams(url.search);
      change(query);
      return `${url.pathname}?${query}`;
    };
    const sig = url.searchParams.get('sig') as string;
    const expires = Number(url.searchParams.get('expires'));
    const bad = [
      alter((query) => query.set('sig', `${sig.slice(0, -1)}${sig.endsWith('A') ? 'B' : 'A'}`)),
      alter((query) => query.set('sig', 'x')),
      alter((query) => query.set('expires', String(expires + 1))),
      slot.address.replace(slot.upload_id, other.upload_id),
      alter((query) => query.delete('sig')),
      alter((query) => query.delete('expires')),
      url.pathname,
    ];
    for (const path of bad) expect([path, await slugOf(await put(path, bytes))]).toEqual([path, [403, 'bad-signature']]);
    const withToken = await world.api.fetch(url.pathname, {
      method: 'PUT',
      body: bytes as Uint8Array<ArrayBuffer>,
      token: world.owner.session,
    });
    expect(await slugOf(withToken)).toEqual([403, 'bad-signature']);
    expect((await look(slot.upload_id)).status).toBe('pending');
  });

  it('ends', async () => {
    const slot = await open();
    const expires = Math.floor(Date.now() / 1000) - 1;
    await world.api.sql.query('UPDATE uploads SET expires_at = to_timestamp($2) WHERE id = $1', [slot.upload_id, expires]);
    const key = deriveKey(world.api.config.secret as string, 'upload slots');
    const sig = createHmac('sha256', key).update(`${slot.upload_id}\n${expires}`).digest('base64url');
    expect(await slugOf(await put(`/api/v1/uploads/${slot.upload_id}?expires=${expires}&sig=${sig}`, await makeNewFile()))).toEqual([
      410,
      'expired',
    ]);
  });

  it('whose ingest failed says so and takes another file', async () => {
    const workbookId = await world.newWorkbook();
    const slot = await open(workbookId);
    expect((await put(slot.address, await makeXlsx({ S: [] }))).status).toBe(200);
    const failed = await waitFor(slot.upload_id, 'uploaded', true);
    expect(failed).toMatchObject({ error: 'No sheet of the file has a cell with content.', source: null, artifacts: [] });
    const again = await put(slot.address, await makeNewFile());
    expect([again.status, ((await again.json()) as Upload).error]).toEqual([200, null]);
    expect(await waitFor(slot.upload_id, 'ingested')).toMatchObject({ artifacts: ['在庫'] });
  });

  it('refuses what is no file, and stays open', async () => {
    const slot = await open();
    expect(await slugOf(await put(slot.address, new TextEncoder().encode('no zip')))).toEqual([415, 'unsupported-media']);
    expect((await put(slot.address, new Uint8Array(0))).status).toBe(422);
    expect((await look(slot.upload_id)).status).toBe('pending');
    const pdf = await open(world.workbookId, { filename: '表.pdf' }).catch((error: Error) => error);
    if (!(pdf instanceof Error)) expect((await put(pdf.address, await makeNewFile())).status).toBe(415);
  });

  it('goes with its workbook', async () => {
    const workbookId = await world.newWorkbook();
    const slot = await open(workbookId);
    ok(await world.owner.client.DELETE('/api/v1/workbooks/{workbook_id}', { params: { path: { workbook_id: workbookId } } }));
    expect(await slugOf(await put(slot.address, await makeNewFile()))).toEqual([404, 'not-found']);
    refused(
      await world.owner.client.GET('/api/v1/uploads/{upload_id}', { params: { path: { upload_id: slot.upload_id } } }),
      404,
      'not-found',
    );
  });

  it('is shown to those who may see its workbook', async () => {
    const slot = await open();
    const path = { upload_id: slot.upload_id };
    const stranger = await world.api.signUp();
    refused(await stranger.client.GET('/api/v1/uploads/{upload_id}', { params: { path } }), 404, 'not-found');
    const elsewhere = world.api.as((await mintToken(world.owner.client, { resource: `workbook:${await world.newWorkbook()}` })).text);
    refused(await elsewhere.GET('/api/v1/uploads/{upload_id}', { params: { path } }), 403, 'outside-reach');
  });

  it('takes one file from many at once', async () => {
    const workbookId = await world.newWorkbook();
    const slot = await open(workbookId);
    const files = await Promise.all(Array.from({ length: 6 }, () => makeNewFile()));
    const answers = await Promise.all(files.map((bytes) => put(slot.address, bytes)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    await waitFor(slot.upload_id, 'ingested');
    expect((await world.api.sql.query('SELECT 1 FROM sources WHERE workbook_id = $1', [workbookId])).rowCount).toBe(1);
  });
});
