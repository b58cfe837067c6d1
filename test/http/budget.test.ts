import { readdir } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Person, TestServer } from '../setup/api.ts';
import { makeLargeTable } from '../setup/largeTable.ts';
import { openTestStore, type TestStore } from '../tables/store.ts';
import { openAnswer } from './rawRequest.ts';

/** What answers may hold: of the process, of one caller, and of a reader who does not read. */

const mib = 1024 * 1024;
/** A page counts for 8 MiB while it is made and for a bit more than 1 MiB while it is sent: four pages fit. */
const fourPages = String(12 * mib);
const many = String(256 * mib);

let store: TestStore;
let path: string;
let open: IncomingMessage[] = [];

beforeAll(async () => {
  store = await openTestStore({ SVC_ANSWER_BYTES: many, SVC_ANSWER_BYTES_PER_CALLER: fourPages, SVC_READER_TIMEOUT_MS: '600000' });
  const text = { name: 't', type: 'VARCHAR', sql: "repeat('long ', 400) || i" };
  await makeLargeTable(store.services, store.workbook, { name: 'large', columns: [text], rows: 20_000, rowsPerFile: 20_000 });
  path = `/api/v1/workbooks/${store.workbook.id}/tables/large`;
});
afterEach(async () => {
  for (const answer of open) answer.destroy();
  open = [];
  await expect.poll(() => readdir(join(store.api.config.dataDir, 'blobs', '.drafts'))).toEqual([]);
});
afterAll(() => store?.stop());

/** The head of an answer whose body nobody reads. */
async function stall(server: Pick<TestServer, 'url'>, rest = '/rows?limit=10000', who: Person = store.owner): Promise<IncomingMessage> {
  const answer = await openAnswer(`${server.url}${path}${rest}`, { Authorization: `Bearer ${who.session}` });
  answer.on('error', () => {});
  open.push(answer);
  return answer;
}

/** Four, one after the other, then many at once. */
async function stallMany(server: Pick<TestServer, 'url'>): Promise<Record<number, number>> {
  const answers: IncomingMessage[] = [];
  for (let i = 0; i < 4; i += 1) answers.push(await stall(server));
  answers.push(...(await Promise.all(Array.from({ length: 12 }, () => stall(server)))));
  const counts: Record<number, number> = {};
  for (const { statusCode = 0, headers } of answers) {
    counts[statusCode] = (counts[statusCode] ?? 0) + 1;
    if (statusCode !== 200) expect(headers['retry-after']).toBe('2');
  }
  return counts;
}

const status = async (server: TestServer, who: Person, rest: string) => {
  const answer = await server.fetch(`${path}${rest}`, { token: who.session });
  await answer.arrayBuffer();
  return answer.status;
};

describe('readers who do not read', () => {
  it('hold as much as one caller may; others are answered meanwhile', async () => {
    const other = await store.api.signUp();
    expect(await stallMany(store.api)).toEqual({ 200: 4, 429: 12 });
    // Not theirs, but answered: they are told so.
    expect(await status(store.api, other, '/rows')).toBe(404);
    expect((await store.api.fetch('/api/v1/me', { token: other.session })).status).toBe(200);
    for (const answer of open) answer.destroy();
    await expect.poll(() => status(store.api, store.owner, '/rows?limit=10000')).toBe(200);
  });

  it('hold as much as a process may', async () => {
    const server = await store.api.another({ SVC_ANSWER_BYTES: fourPages, SVC_ANSWER_BYTES_PER_CALLER: many });
    expect(await stallMany(server)).toEqual({ 200: 4, 503: 12 });
    for (const answer of open) answer.destroy();
    await expect.poll(() => status(server, store.owner, '/rows?limit=10000')).toBe(200);
    await server.stop();
  });

  it.each(['/rows?limit=10000', '/rows?limit=10000&sort=t:desc', '/data?format=csv', '/data?format=json'])(
    'of %s are disconnected after a while',
    async (rest) => {
      const server = await store.api.another({ SVC_READER_TIMEOUT_MS: '200', SVC_ANSWER_BYTES_PER_CALLER: '1' });
      const answer = await stall(server, rest);
      expect(answer.statusCode).toBe(200);
      // Whoever holds anything gets no more, so this waits for the end of the other.
      await expect.poll(() => status(server, store.owner, '/rows?limit=1')).toBe(200);
      await new Promise((done) => answer.resume().once('close', done));
      expect(answer.complete).toBe(false);
      await server.stop();
    },
  );
});

describe('readers who read', () => {
  it('get long answers whole, with their length', async () => {
    const answer = await store.api.fetch(`${path}/rows?limit=10000`, {
      token: store.owner.session,
      headers: { 'Accept-Encoding': 'identity' },
    });
    const text = await answer.text();
    expect(Number(answer.headers.get('content-length'))).toBe(Buffer.byteLength(text));
    const page = JSON.parse(text) as { rows: { t: string; __svc_row_id: number }[]; next_cursor: string };
    expect(page.rows.map(({ __svc_row_id }) => __svc_row_id)).toEqual(Array.from({ length: 10_000 }, (_, i) => i + 1));
    const next = await store.api.fetch(`${path}/rows?limit=10000&cursor=${page.next_cursor}`, { token: store.owner.session });
    const last = (await next.json()) as { rows: { __svc_row_id: number }[]; next_cursor: null };
    expect([last.rows.length, last.rows[0]?.__svc_row_id, last.next_cursor]).toEqual([10_000, 10_001, null]);
  });
});
