import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok, refused } from '../setup/api.ts';
import { openTestStore, type TestStore } from '../tables/store.ts';

/** What large bodies may take: they wait in files, and those of one user not all at once. */

const mib = 1024 * 1024;
let store: TestStore;
let path: { workbook_id: string; name: string };

beforeAll(async () => {
  store = await openTestStore({ SVC_WORK_BYTES: String(64 * mib), SVC_WORK_BYTES_PER_CALLER: String(32 * mib) });
  await store.makeTable('t', [{ name: 't', type: 'VARCHAR' }]);
  path = { workbook_id: store.workbook.id, name: 't' };
});
afterAll(() => store?.stop());

const drafts = () => readdir(join(store.api.config.dataDir, 'blobs', '.drafts'));
const upsert = (rows: Record<string, unknown>[]) =>
  store.owner.client.POST('/api/v1/workbooks/{workbook_id}/tables/{name}/rows', {
    params: { path },
    body: { expected_version: null, rows },
  });

describe('a large body', () => {
  it('waits for others of the same user, and all are done', async () => {
    const row = () => ({ t: 'x'.repeat(5 * mib) });
    const edits = await Promise.all(Array.from({ length: 4 }, () => upsert([row()])));
    expect(edits.map((edit) => ok(edit).inserted)).toEqual([1, 1, 1, 1]);
    expect(await drafts()).toEqual([]);
  });

  it('of very many values is refused before it is read', async () => {
    const problem = refused(await upsert(new Array(5_500_000).fill({})), 413, 'too-large');
    expect(problem).toMatchObject({ detail: 'The body holds too many values.', suggested_fix: 'Send it in smaller parts.' });
    expect(await drafts()).toEqual([]);
  });

  it('that does not come to its end leaves nothing', async () => {
    const sent = request(`${store.api.url}/api/v1/workbooks/${path.workbook_id}/tables/t/rows`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${store.owner.session}`, 'Content-Type': 'application/json', 'Content-Length': 2 * mib },
    });
    sent.on('error', () => {});
    sent.write(`{"rows": [{"t": "${'x'.repeat(mib)}`);
    await expect.poll(drafts).toHaveLength(1);
    sent.destroy();
    await expect.poll(drafts).toEqual([]);
  });
});

it('rows that hold too much are not changed at once', async () => {
  await store.makeTable('long', [
    { name: 't', type: 'VARCHAR' },
    { name: 'n', type: 'BIGINT' },
  ]);
  const long = { ...path, name: 'long' };
  const edit = (rows: Record<string, unknown>[]) =>
    store.owner.client.POST('/api/v1/workbooks/{workbook_id}/tables/{name}/rows', {
      params: { path: long },
      body: { expected_version: null, rows },
    });
  for (let i = 0; i < 4; i += 1) ok(await edit(Array.from({ length: 25 }, () => ({ t: 'x'.repeat(mib) }))));
  const all = Array.from({ length: 100 }, (_, i) => ({ __svc_row_id: i + 1, n: 1 }));
  expect(refused(await edit(all), 413, 'too-large').suggested_fix).toBe('Name fewer rows at a time.');
  expect(ok(await edit(all.slice(0, 10))).updated).toBe(10);
});
