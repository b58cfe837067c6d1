import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { failIngest } from '../../activities/ingest/endIngest.ts';
import { makeForm, type SentForm } from '../contract/forms.ts';
import { ok } from '../setup/api.ts';
import { makeWorkbook, makeWorkspace } from '../setup/credentials.ts';
import { expectRefusal, leavingNothing, listDrafts, type Refusal } from './leftovers.ts';
import { useWorld } from './world.ts';

/** Forms that are no good, files that are too large, senders that go away. */

const world = await useWorld();
const path = `/api/v1/workbooks/${world.workbookId}/sources`;

const csv = 'a,b\n1,2\n';
const type = 'multipart/form-data; boundary=x';
const part = (headers: string, content: string) => `--x\r\n${headers}\r\n\r\n${content}\r\n`;
const filePart = (name: string, content = csv) => part(`Content-Disposition: form-data; name="file"; filename="${name}"`, content);
const field = (name: string, content: string) => part(`Content-Disposition: form-data; name="${name}"`, content);
const end = '--x--\r\n';

function sendText(body: string | Uint8Array, headers: Record<string, string> = {}): Promise<Response> {
  return world.api.fetch(path, {
    method: 'POST',
    token: world.owner.session,
    headers: { 'Content-Type': type, ...headers },
    body: body as Uint8Array<ArrayBuffer>,
  });
}

function sendForm(form: SentForm, headers: Record<string, string> = {}): Promise<Response> {
  return world.api.fetch(path, { method: 'POST', token: world.owner.session, headers, body: makeForm(form) });
}

const malformed = { status: 400, slug: 'malformed-request', fix: /multipart\/form-data/ };
const invalid = { status: 422, slug: 'validation-failed', fix: /./ };

describe('uploadSource: a form', () => {
  const cases: [string, string, Refusal][] = [
    ['nothing', '', { ...malformed, detail: /form/ }],
    ['no form at all', 'hello', { ...malformed, detail: /well-formed/ }],
    [
      'another boundary',
      `--y\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n${csv}\r\n--y--\r\n`,
      { ...malformed, detail: /well-formed/ },
    ],
    ['its end missing', filePart('a.csv'), { ...malformed, detail: /cut off/ }],
    ['its file cut off', filePart('a.csv').slice(0, -6), { ...malformed, detail: /cut off/ }],
    ['a header cut off', '--x\r\nContent-Disposition: form-', { ...malformed, detail: /cut off/ }],
    ['no part', end, { ...invalid, detail: /file: is required/ }],
    ['no file', `${field('mode', 'auto')}${end}`, { ...invalid, detail: /file: is required/ }],
    ['a text in the place of the file', `${field('file', csv)}${end}`, { ...invalid, detail: /must be a file/ }],
    ['two files', `${filePart('a.csv')}${filePart('b.csv')}${end}`, { ...invalid, detail: /only one file/ }],
    [
      'a file in another field',
      `${part('Content-Disposition: form-data; name="datei"; filename="a.csv"', csv)}${end}`,
      { ...invalid, detail: /datei: only one file is taken/ },
    ],
    [
      'a file in no field',
      `${part('Content-Disposition: form-data; filename="a.csv"', csv)}${end}`,
      { ...invalid, detail: /only one file/ },
    ],
    [
      'a field without a name',
      `${filePart('a.csv')}${part('Content-Disposition: form-data', 'x')}${end}`,
      { ...malformed, detail: /no name/ },
    ],
    ['an unknown field', `${filePart('a.csv')}${field('mood', 'x')}${end}`, { ...invalid, detail: /mood: is not known/ }],
    ['__proto__', `${filePart('a.csv')}${field('__proto__', 'x')}${end}`, { ...invalid, detail: /__proto__: is not known/ }],
    [
      'a field twice',
      `${field('mode', 'auto')}${field('mode', 'staged')}${filePart('a.csv')}${end}`,
      { ...malformed, detail: /mode stands in the form twice/ },
    ],
    ['a mode that is none', `${filePart('a.csv')}${field('mode', 'magic')}${end}`, { ...invalid, detail: /mode: must be one of/ }],
    ['async that is neither yes nor no', `${filePart('a.csv')}${field('async', 'maybe')}${end}`, { ...invalid, detail: /async/ }],
    [
      'async and staged',
      `${filePart('a.csv')}${field('async', 'true')}${field('mode', 'staged')}${end}`,
      { ...invalid, detail: /async: goes with mode auto/ },
    ],
    ['U+0000 in a field', `${filePart('a.csv')}${field('mode', 'a\u0000b')}${end}`, { ...invalid, detail: /U\+0000/ }],
    [
      'a field of 65 KiB',
      `${field('mode', 'x'.repeat(65 * 1024))}${filePart('a.csv')}${end}`,
      { status: 413, slug: 'too-large', detail: /64 KiB/, fix: /less/ },
    ],
    [
      'a hundred fields',
      `${Array.from({ length: 100 }, (_, i) => field(`f${i}`, 'x')).join('')}${end}`,
      { ...malformed, detail: /too many parts/ },
    ],
    ['a file without a name', `${filePart('')}${end}`, { ...invalid, detail: /no file name/, fix: /with its name/ }],
    ['a file named ..', `${filePart('..')}${end}`, { ...invalid, detail: /no file name/ }],
    ['a file named by a folder', `${filePart('folder/')}${end}`, { ...invalid, detail: /no file name/ }],
    ['a file with a name of 401 characters', `${filePart(`${'名'.repeat(397)}.csv`)}${end}`, { ...invalid, detail: /longer than 400/ }],
    [
      'a file without an extension that is no workbook',
      `${filePart('data')}${end}`,
      { status: 415, slug: 'unsupported-media', detail: /text/, fix: /\.csv/ },
    ],
  ];
  it.each(cases)('with %s is refused', async (_, body, expected) => {
    await leavingNothing(world, async () => expectRefusal(await sendText(body), expected));
  });

  it('of another media type, or without a boundary, is refused', async () => {
    const unsupported = { status: 415, slug: 'unsupported-media', detail: /media type/, fix: /multipart\/form-data/ };
    for (const other of ['application/json', 'text/csv', 'application/x-www-form-urlencoded', 'multipart/mixed; boundary=x'])
      await leavingNothing(world, async () =>
        expectRefusal(await sendText(`${filePart('a.csv')}${end}`, { 'Content-Type': other }), unsupported),
      );
    await leavingNothing(world, async () =>
      expectRefusal(await sendText(`${filePart('a.csv')}${end}`, { 'Content-Type': 'multipart/form-data' }), {
        ...malformed,
        detail: /boundary/,
      }),
    );
  });

  it('is compared by its fields and its file, not by how it is written', async () => {
    const form = (content: string, fields: Record<string, string> = { mode: 'staged' }) => ({
      fields,
      files: [{ name: 'k.csv', content }],
    });
    const headers = { 'Idempotency-Key': 'forms-1' };
    const first = await sendForm(form('k\n1\n'), headers);
    const again = await sendForm(form('k\n1\n'), headers);
    expect([first.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 201, 'true']);
    expect(await again.text()).toBe(await first.text());
    const mismatch = { status: 422, slug: 'idempotency-mismatch', detail: /another request/, fix: /new key/ };
    await expectRefusal(await sendForm(form('k\n2\n'), headers), mismatch);
    await expectRefusal(await sendForm(form('k\n1\n', { structuring: 'skip' }), headers), mismatch);
    expect(await listDrafts(world.api)).toEqual([]);
  });

  it('that is refused is refused again, without another job', async () => {
    const headers = { 'Idempotency-Key': 'forms-2' };
    const bad = { fields: {}, files: [{ name: 'bad.csv', content: 'a,"b\n' }] };
    const expected = { ...invalid, detail: /never closed/ };
    const count = async () => (await world.api.sql.query('SELECT count(*)::int AS n FROM jobs')).rows;
    await expectRefusal(await sendForm(bad, headers), expected);
    const jobs = await count();
    await expectRefusal(await sendForm(bad, headers), expected);
    expect(await count()).toEqual(jobs);
  });

  it('whose job was given up is tried anew when it is repeated', async () => {
    const headers = { 'Idempotency-Key': 'forms-3' };
    const good = { fields: { structuring: 'skip' }, files: [{ name: 'good.csv', content: 'a,b\n3,4\n' }] };
    // No worker listens to this one.
    const deaf = await world.api.another();
    const waiting = deaf.fetch(path, { method: 'POST', token: world.owner.session, headers, body: makeForm(good) });
    const find = () => world.api.sql.query<{ id: string }>('SELECT id FROM jobs WHERE finished_at IS NULL');
    await expect.poll(async () => (await find()).rowCount).toBe(1);
    await failIngest(world.api.services, (await find()).rows[0]?.id ?? '');
    const answer = await waiting;
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    const again = [await sendForm(good, headers), await sendForm(good, headers)];
    expect(again.map(({ status, headers: sent }) => [status, sent.get('idempotency-replayed')])).toEqual([
      [201, null],
      [201, 'true'],
    ]);
  });
});

describe('uploadSource: the name of a file', () => {
  const cases: [string, string][] = [
    ['../../etc/passwd.csv', 'passwd.csv'],
    ['C:\\\\Users\\\\me\\\\売上.csv', '売上.csv'],
    ['a\tb.csv', 'a b.csv'],
    ['売上 .csv', '売上 .csv'],
    ['%2e%2e%2fx.csv', '%2e%2e%2fx.csv'],
    ['..csv', '..csv'],
    ['.csv.csv', '.csv.csv'],
    ['売上.CSV', '売上.CSV'],
    ['😀.csv', '😀.csv'],
    ["it's.csv", "it's.csv"],
    [`${'名'.repeat(396)}.csv`, `${'名'.repeat(396)}.csv`],
    ['cloud.csv', 'cloud.csv'],
  ];
  it.each([' 売上.csv', '売上.csv ', '\u3000売上.csv', '\t売上.csv'])('%j is refused for the blank at its end', async (sent) => {
    const workbookId = await world.newWorkbook();
    const body = `${filePart(sent, 'a,b\n1,2\n')}${end}`;
    const answer = await world.api.fetch(`/api/v1/workbooks/${workbookId}/sources`, {
      method: 'POST',
      token: world.owner.session,
      headers: { 'Content-Type': type },
      body,
    });
    expect(await answer.json()).toMatchObject({ errors: [{ pointer: '/file', detail: 'begins or ends with a blank' }] });
  });

  it.each(cases)('%j is cleaned, and the source and its table can be asked for', async (sent, kept) => {
    const workbookId = await world.newWorkbook();
    const body = `${field('structuring', 'skip')}${filePart(sent, `a,b\n1,${kept.length}\n`)}${end}`;
    const sources = `/api/v1/workbooks/${workbookId}/sources`;
    const answer = await world.api.fetch(sources, { method: 'POST', token: world.owner.session, headers: { 'Content-Type': type }, body });
    const { source } = (await answer.json()) as { source: { name: string; filename: string; artifacts: string[] } };
    expect([answer.status, source?.filename]).toEqual([201, kept]);
    const get = (address: string) => world.api.fetch(address, { token: world.owner.session });
    expect((await get(`${sources}/${encodeURIComponent(source.name)}`)).status).toBe(200);
    expect((await get(`${sources}/${encodeURIComponent(source.name)}/download`)).status).toBe(200);
    const [table = ''] = source.artifacts;
    expect(table.length).toBeLessThanOrEqual(200);
    expect((await get(`/api/v1/workbooks/${workbookId}/tables/${encodeURIComponent(table)}/rows`)).status).toBe(200);
  });
});

const limit = 100 * 1024 * 1024;

interface Streamed {
  url: string;
  method: string;
  headers: Record<string, string | number>;
  before?: string;
  after?: string;
  size: number;
}

/** Sends zeros, piece by piece, as fast as they are taken. */
function stream({ url, method, headers, before = '', after = '', size }: Streamed): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${world.api.url}${url}`, { method, headers });
    let isAnswered = false;
    request.on('response', async (response) => {
      isAnswered = true;
      const parts: Buffer[] = [];
      for await (const piece of response) parts.push(piece as Buffer);
      resolve(new Response(Buffer.concat(parts), { status: response.statusCode, headers: response.headers as Record<string, string> }));
    });
    // Whoever is told no stops sending.
    request.on('error', (error) => (isAnswered ? undefined : reject(error)));
    const piece = Buffer.alloc(1024 * 1024);
    const write = async () => {
      request.write(before);
      for (let sent = 0; sent < size && !isAnswered; sent += piece.length) {
        if (!request.write(piece.subarray(0, Math.min(piece.length, size - sent))))
          await new Promise<void>((resume) => {
            request.once('drain', resume);
            request.once('response', () => resume());
            request.once('error', () => resume());
          });
      }
      request.end(after);
    };
    write().catch(reject);
  });
}

describe('uploadSource: a file of 100 MiB and one byte', () => {
  const tooLarge = { status: 413, slug: 'too-large', detail: /100 MiB/, fix: /Split/ };
  const [before, after] = [filePart('big.csv').split(csv)[0] ?? '', `\r\n${end}`];

  it.each([
    ['announced', { 'Content-Length': before.length + limit + 1 + after.length }],
    ['not announced', { 'Transfer-Encoding': 'chunked' }],
  ])('is refused in a form, its length %s', async (_, length) => {
    const headers = { Authorization: `Bearer ${world.owner.session}`, 'Content-Type': type, ...length };
    await leavingNothing(world, async () =>
      expectRefusal(await stream({ url: path, method: 'POST', headers, before, after, size: limit + 1 }), tooLarge),
    );
  });

  it.each([
    ['announced', { 'Content-Length': limit + 1 }],
    ['not announced', { 'Transfer-Encoding': 'chunked' }],
  ])('is refused by a slot, its length %s', async (_, headers) => {
    const params = { path: { workbook_id: world.workbookId } };
    const slot = ok(await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/uploads', { params, body: { filename: 'big.csv' } }));
    const { pathname, search } = new URL(slot.upload_url ?? '');
    await leavingNothing(world, async () =>
      expectRefusal(await stream({ url: `${pathname}${search}`, method: 'PUT', headers, size: limit + 1 }), tooLarge),
    );
  });

  it('is one too many: 100 MiB are looked at', async () => {
    const headers = { Authorization: `Bearer ${world.owner.session}`, 'Content-Type': type, 'Transfer-Encoding': 'chunked' };
    const head = filePart('big.xlsx').split(csv)[0] ?? '';
    await leavingNothing(world, async () =>
      expectRefusal(await stream({ url: path, method: 'POST', headers, before: head, after, size: limit }), {
        status: 415,
        slug: 'unsupported-media',
        detail: /not an Excel workbook/,
        fix: /xlsx/,
      }),
    );
  });

  it('is refused around a small file as well', async () => {
    const headers = { Authorization: `Bearer ${world.owner.session}`, 'Content-Type': type, 'Transfer-Encoding': 'chunked' };
    await leavingNothing(world, async () =>
      expectRefusal(
        await stream({ url: path, method: 'POST', headers, after: `\r\n${filePart('a.csv')}${end}`, size: limit + 3_000_000 }),
        tooLarge,
      ),
    );
  });
});

describe('uploadSource: a form for a workbook that is not to be written to', () => {
  /** Sends the beginning of a form, and the rest only after the answer. */
  const begin = (workbookId: string, token: string) =>
    new Promise<{ status: number; type: string }>((resolve, reject) => {
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': type, 'Transfer-Encoding': 'chunked' };
      const request = httpRequest(`${world.api.url}/api/v1/workbooks/${workbookId}/sources`, { method: 'POST', headers });
      request.on('response', async (response) => {
        const parts: Buffer[] = [];
        for await (const piece of response) parts.push(piece as Buffer);
        request.destroy();
        resolve({ status: response.statusCode ?? 0, type: JSON.parse(Buffer.concat(parts).toString()).type });
      });
      request.on('error', reject);
      request.write(filePart('a.csv').slice(0, -10));
    });

  it('is refused before it has come', async () => {
    const stranger = await world.api.signUp();
    const unknown = 'wb_00000000000000000000000000';
    for (const [workbookId, token] of [
      [unknown, world.owner.session],
      [world.workbookId, stranger.session],
    ] as const)
      await leavingNothing(world, async () =>
        expect(await begin(workbookId, token)).toEqual({ status: 404, type: 'urn:svc:problem:not-found' }),
      );
    const { client } = world.owner;
    const team = await makeWorkspace(client, 'Team');
    const body = { email: stranger.email, role: 'viewer' as const };
    ok(await client.POST('/api/control/workspaces/{workspace_id}/users', { params: { path: { workspace_id: team } }, body }));
    const shared = await makeWorkbook(client, 'Shared', team);
    expect(await begin(shared, stranger.session)).toEqual({ status: 403, type: 'urn:svc:problem:insufficient-role' });
  });
});

describe('uploadSource: a sender that goes away', () => {
  const goAway = (head: string, body: string | Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      const { hostname, port } = new URL(world.api.url);
      const socket = connect(Number(port), hostname, () => {
        socket.write(head);
        socket.write(body, () => setTimeout(() => resolve(void socket.destroy()), 100));
      });
      socket.on('error', reject);
    });
  const authorization = () => `Authorization: Bearer ${world.owner.session}`;

  it('in the middle of a form leaves nothing', async () => {
    const body = filePart('gone.csv', 'a,b\n'.repeat(50_000)).slice(0, 150_000);
    await leavingNothing(world, async () => {
      for (const length of ['Content-Length: 300000', 'Transfer-Encoding: chunked'])
        await goAway(
          `POST ${path} HTTP/1.1\r\nHost: x\r\n${authorization()}\r\nContent-Type: ${type}\r\n${length}\r\n\r\n`,
          length.startsWith('T') ? `${body.length.toString(16)}\r\n${body}\r\n` : body,
        );
    });
  });

  it('in the middle of the bytes for a slot leaves nothing, and the slot open', async () => {
    const params = { path: { workbook_id: world.workbookId } };
    const slot = ok(await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/uploads', { params, body: { filename: 'gone.csv' } }));
    const { pathname, search } = new URL(slot.upload_url ?? '');
    await leavingNothing(world, () =>
      goAway(`PUT ${pathname}${search} HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n`, 'a,b\n'.repeat(1000)),
    );
    const shown = await world.api.fetch(`/api/v1/uploads/${slot.upload_id}`, { token: world.owner.session });
    expect(await shown.json()).toMatchObject({ status: 'pending' });
  });
});

describe('uploadSource: a connection', () => {
  it('can be used again after a form was refused half-way', async () => {
    const big = `${filePart('a.csv', 'x,'.repeat(200_000))}${filePart('b.csv', 'y,'.repeat(200_000))}${end}`;
    for (let n = 0; n < 5; n += 1) expect((await sendText(big)).status).toBe(422);
    expect(await listDrafts(world.api)).toEqual([]);
  });
});
