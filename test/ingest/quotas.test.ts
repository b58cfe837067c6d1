import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok, refused } from '../setup/api.ts';
import { mintToken } from '../setup/credentials.ts';
import { editRows, makeTable } from '../setup/tables.ts';
import { type IngestWorld, makeXlsx, openWorld } from './world.ts';

/** What an account may store: 1 MB, of which results of queries may take 300 kB. */

let world: IngestWorld;
beforeAll(async () => {
  world = await openWorld({ env: { SVC_STORAGE_LIMITS: '1MB', SVC_RESULTS_LIMIT: '300kB' } });
});
afterAll(() => world.stop());

const base = '/api/v1/workbooks/{workbook_id}' as const;
/** A person without anything stored. */
async function openAccount() {
  const person = await world.api.signUp();
  const { client } = person;
  const newWorkbook = async () => ok(await client.POST('/api/v1/workbooks', { body: { title: 'Stored' } })).id;
  const workbookId = await newWorkbook();
  return {
    client,
    session: person.session,
    workbookId,
    newWorkbook,
    readStorage: async () => ok(await client.GET('/api/v1/me')).storage,
    send: (filename: string, bytes: string | Uint8Array, fields = {}) =>
      world.send(filename, bytes, { workbookId, token: person.session, fields }),
    write: (name: string, rows: Record<string, unknown>[]) =>
      client.POST(`${base}/tables/{name}/rows`, {
        params: { path: { workbook_id: workbookId, name } },
        body: { rows, expected_version: null },
      }),
    query: async (sql: string) =>
      ok(await client.POST(`${base}/query`, { params: { path: { workbook_id: workbookId } }, body: { sql } })) as { id: string },
    readResult: (id: string) => client.GET('/api/v1/results/{result_id}', { params: { path: { result_id: id } } }),
  };
}

/** Rows that take about as many bytes as their texts have. */
const makeRows = (bytes: number) => Array.from({ length: Math.ceil(bytes / 1000) }, (_, i) => ({ a: String(i).padStart(1000, 'x') }));
const makeCsv = (rows: number) => `a,b\n${Array.from({ length: rows }, (_, i) => `${i},text ${i}`).join('\n')}\n`;

describe('what an account stores', () => {
  it('is shown to it, by kind, and is what the catalog has', async () => {
    const own = await openAccount();
    expect(await own.readStorage()).toEqual({ tables_bytes: 0, sources_bytes: 0, results_bytes: 0, limit_bytes: 1_000_000 });
    const csv = makeCsv(500);
    expect((await own.send('売上.csv', csv, { structuring: 'skip' })).status).toBe(201);
    const { id } = await own.query('SELECT 1 AS one');
    const { rows } = await world.api.sql.query<Record<string, number>>(
      `SELECT (SELECT sum((entry->>'bytes')::int)::int FROM tables t JOIN manifests m ON m.id = t.manifest_id, jsonb_array_elements(m.layers) AS part(entry)
               WHERE t.workbook_id = $1) AS files,
              (SELECT length(content) FROM results WHERE id = $2) AS content`,
      [own.workbookId, id],
    );
    const storage = await own.readStorage();
    expect(storage).toMatchObject({ tables_bytes: rows[0]?.files, sources_bytes: Buffer.byteLength(csv) });
    expect(storage.results_bytes).toBeGreaterThan(rows[0]?.content as number);
  });

  it('grows with edits before they are in files', async () => {
    const own = await openAccount();
    await makeTable(own.client, own.workbookId, 't', [{ name: 'a' }]);
    ok(await own.write('t', makeRows(20_000)));
    const { tables_bytes } = await own.readStorage();
    expect(tables_bytes).toBeGreaterThan(20_000);
    expect(tables_bytes).toBeLessThan(40_000);
  });
});

describe('an account without room', () => {
  it('takes no file that does not fit, and nothing of it stays', async () => {
    const own = await openAccount();
    const answer = await own.send('big.csv', makeCsv(80_000), { structuring: 'skip' });
    expect([answer.status, ((await answer.json()) as { type: string }).type]).toEqual([403, 'urn:svc:problem:quota-exceeded']);
    expect(await own.readStorage()).toMatchObject({ tables_bytes: 0, sources_bytes: 0 });
    // Where the length is not known before, the file is refused when it is there.
    const form = new FormData();
    form.set('file', new Blob([makeCsv(80_000)]), 'big.csv');
    form.set('structuring', 'skip');
    const { body, headers } = new Response(form);
    const streamed = await world.api.fetch(`/api/v1/workbooks/${own.workbookId}/sources`, {
      method: 'POST',
      token: own.session,
      headers: { 'Content-Type': headers.get('Content-Type') ?? '' },
      body,
      duplex: 'half',
    } as RequestInit);
    expect([streamed.status, ((await streamed.json()) as { type: string }).type]).toEqual([403, 'urn:svc:problem:quota-exceeded']);
    expect(await own.readStorage()).toMatchObject({ tables_bytes: 0, sources_bytes: 0 });
  });

  it('takes no file whose tables do not fit', async () => {
    const own = await openAccount();
    const text = 'y'.repeat(300);
    const xlsx = await makeXlsx({ S: [['a', 'b'], ...Array.from({ length: 4_000 }, (_, i) => [`${text}${i}`, i])] });
    expect(xlsx.length).toBeLessThan(500_000);
    const answer = await own.send('dense.xlsx', xlsx, { structuring: 'skip' });
    expect([answer.status, ((await answer.json()) as { type: string }).type]).toEqual([403, 'urn:svc:problem:quota-exceeded']);
    expect(await own.readStorage()).toMatchObject({ tables_bytes: 0, sources_bytes: 0 });
  });

  it('takes no rows that do not fit; reading and deleting go on, and what is deleted is room again', async () => {
    const own = await openAccount();
    await makeTable(own.client, own.workbookId, 't', [{ name: 'a' }]);
    await makeTable(own.client, own.workbookId, 'other', [{ name: 'a' }]);
    ok(await own.write('t', makeRows(700_000)));
    refused(await own.write('other', makeRows(600_000)), 403, 'quota-exceeded');
    ok(await own.write('other', makeRows(150_000)));
    refused(await own.write('t', makeRows(250_000)), 403, 'quota-exceeded');
    const path = { workbook_id: own.workbookId, name: 't' };
    ok(await own.client.GET(`${base}/tables/{name}/rows`, { params: { path } }));
    await own.query('SELECT count(*) AS n FROM t');
    const few = { row_ids: [1, 2, 3], expected_version: null };
    ok(await own.client.POST(`${base}/tables/{name}/rows/delete`, { params: { path }, body: few }));
    ok(await own.client.DELETE(`${base}/tables/{name}`, { params: { path, query: { expected_version: '3' } } }));
    ok(await own.write('other', makeRows(250_000)));
  });

  it('has room again when a workbook is deleted, whichever process did it', async () => {
    const own = await openAccount();
    const second = await world.api.another({ SVC_STORAGE_LIMITS: '1MB' });
    const full = await own.newWorkbook();
    await makeTable(own.client, full, 'full', [{ name: 'a' }]);
    await editRows(own.client, full, 'full', makeRows(900_000));
    await makeTable(own.client, own.workbookId, 't', [{ name: 'a' }]);
    refused(await own.write('t', makeRows(300_000)), 403, 'quota-exceeded');
    ok(await second.as(own.session).DELETE(base, { params: { path: { workbook_id: full } } }));
    ok(await own.write('t', makeRows(300_000)));
  });

  it('has as much as its plan allows', async () => {
    const own = await openAccount();
    const paid = await world.api.another({ SVC_STORAGE_LIMITS: 'free=1kB,pro=1GB' });
    const { account_id } = ok(await own.client.GET('/api/v1/me'));
    const write = () =>
      paid.as(own.session).POST(`${base}/tables/{name}/rows`, {
        params: { path: { workbook_id: own.workbookId, name: 't' } },
        body: { rows: makeRows(5_000), expected_version: null },
      });
    await makeTable(own.client, own.workbookId, 't', [{ name: 'a' }]);
    refused(await write(), 403, 'quota-exceeded');
    await world.api.sql.query("UPDATE accounts SET plan = 'pro' WHERE id = $1", [account_id]);
    ok(await write());
  });

  it('is refused by each of many writes at once that would pass it', async () => {
    const own = await openAccount();
    await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => makeTable(own.client, own.workbookId, name, [{ name: 'a' }])));
    const answers = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => own.write(name, makeRows(300_000))));
    expect(answers.filter(({ error }) => error !== undefined).length).toBeGreaterThanOrEqual(3);
    expect((await own.readStorage()).tables_bytes).toBeLessThan(1_000_000);
  });
});

describe('results of queries', () => {
  /** Each is kept as a file of about 80 kB, and none is the answer to another. */
  const large = (n: number) => `SELECT CAST(i AS FLOAT) AS f, ${n} AS n FROM range(20000) AS r(i)`;

  async function listBlobs(workbookId: string): Promise<string[]> {
    const keys: string[] = [];
    const { rows } = await world.api.sql.query<{ account_id: string }>('SELECT account_id FROM workbooks WHERE id = $1', [workbookId]);
    for await (const { key } of world.api.services.blobs.list(`${rows[0]?.account_id}/${workbookId}/results`)) keys.push(key);
    return keys;
  }

  it('go when newer ones need their room, with their files; a token that may only read fills nothing', async () => {
    const own = await openAccount();
    const reader = world.api.as((await mintToken(own.client, { scopes: ['workbooks:read'] })).text);
    const ids: string[] = [];
    for (let i = 0; i < 8; i += 1) {
      const params = { path: { workbook_id: own.workbookId } };
      ids.push((ok(await reader.POST(`${base}/query`, { params, body: { sql: large(i) } })) as { id: string }).id);
      expect((await own.readStorage()).results_bytes).toBeLessThanOrEqual(300_000);
    }
    refused(await own.readResult(ids[0] as string), 410, 'expired');
    ok(await own.readResult(ids.at(-1) as string));
    ok(await own.readResult(ids.at(-2) as string));
    const { rows } = await world.api.sql.query<{ blob_key: string }>(
      'SELECT blob_key FROM results WHERE id = ANY ($1) AND expires_at > now()',
      [ids],
    );
    expect((await listBlobs(own.workbookId)).sort()).toEqual(rows.map((row) => row.blob_key).sort());
  });

  it('begin to go before there is no room, so that nobody waits for it', async () => {
    const own = await openAccount();
    const ids: string[] = [];
    const nearlyFull = 0.95 * 300_000;
    for (let bytes = 0; bytes <= nearlyFull && ids.length < 60; { results_bytes: bytes } = await own.readStorage())
      ids.push((await own.query(`SELECT CAST(i AS FLOAT) AS f, ${ids.length} AS n FROM range(2000) AS r(i)`)).id);
    await expect.poll(async () => (await own.readResult(ids[0] as string)).response.status).toBe(410);
    ok(await own.readResult(ids.at(-1) as string));
  });

  it('are said to be lost when their file went while they were read', async () => {
    const own = await openAccount();
    const { id } = await own.query(large(0));
    const { rows } = await world.api.sql.query<{ blob_key: string }>('SELECT blob_key FROM results WHERE id = $1', [id]);
    await world.api.services.blobs.remove(rows[0]?.blob_key as string);
    expect(refused(await own.readResult(id), 503, 'unavailable').suggested_fix).toContain('Run the query again');
  });

  it('never stand in the way of a write', async () => {
    const own = await openAccount();
    await makeTable(own.client, own.workbookId, 't', [{ name: 'a' }]);
    const { id: old } = await own.query(large(0));
    await own.query(large(1));
    ok(await own.write('t', makeRows(880_000)));
    refused(await own.readResult(old), 410, 'expired');
    const { tables_bytes, results_bytes } = await own.readStorage();
    expect(tables_bytes + results_bytes).toBeLessThanOrEqual(1_000_000);
    // A full account can still be asked.
    const { id } = await own.query('SELECT count(*) AS n FROM t');
    ok(await own.readResult(id));
  });

  it('that are too large for their share alone are refused', async () => {
    const own = await openAccount();
    const params = { path: { workbook_id: own.workbookId } };
    const sql = 'SELECT i FROM range(100000) AS r(i)';
    refused(await own.client.POST(`${base}/query`, { params, body: { sql } }), 400, 'query-too-large');
    expect((await own.readStorage()).results_bytes).toBe(0);
  });
});
