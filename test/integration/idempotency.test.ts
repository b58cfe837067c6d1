import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deriveKey, unseal } from '../../store/secrets.ts';
import { makeSample, sendSample } from '../contract/samples.ts';
import { makeWorld, startWorkingApi, type World } from '../contract/world.ts';
import { ok, type Person, type TestApi, type TestServer } from '../setup/api.ts';
import { type Minted, makeAccount, makeWorkspace, mintKey, mintToken } from '../setup/credentials.ts';

/** The same key and the same request: done once, answered the same each time. Crashes are in idempotency.crash.test.ts. */

let api: TestApi;
let second: TestServer;
let world: World;

beforeAll(async () => {
  api = await startWorkingApi();
  second = await api.another();
  world = await makeWorld(api);
});
afterAll(() => api.stop());

const create = (key: string, title: string, token = world.owner.session, server: TestServer = api) =>
  server.fetch('/api/v1/workbooks', {
    method: 'POST',
    token,
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
    body: JSON.stringify({ title }),
  });
const count = async (title: string) =>
  (await api.sql.query<{ n: number }>('SELECT count(*)::int AS n FROM workbooks WHERE title = $1', [title])).rows[0]?.n;
const problemOf = async (answer: Response) => [
  answer.status,
  ((await answer.json()) as { type: string }).type.replace('urn:svc:problem:', ''),
];

describe('Idempotency-Key: a repeated request', () => {
  it('is answered byte for byte the same, by every operation that changes something', async () => {
    const operations = api.contract.operations.filter(({ idempotent }) => idempotent);
    expect(operations.length).toBeGreaterThanOrEqual(16);
    for (const operation of operations) {
      const sample = { ...(await makeSample(world, operation)), headers: { 'Idempotency-Key': randomUUID() } };
      const first = await sendSample(world, operation, sample);
      expect([operation.id, first.status < 300, first.headers.get('idempotency-replayed')]).toEqual([operation.id, true, null]);
      const bytes = Buffer.from(await first.arrayBuffer());
      for (let i = 0; i < 2; i++) {
        const again = await sendSample(world, operation, sample);
        expect([operation.id, again.status, again.headers.get('idempotency-replayed')]).toEqual([operation.id, first.status, 'true']);
        expect([operation.id, Buffer.from(await again.arrayBuffer()).equals(bytes)]).toEqual([operation.id, true]);
        for (const name of ['content-type', 'location']) expect(again.headers.get(name)).toBe(first.headers.get(name));
      }
    }
  }, 240_000);

  it('is possible for every operation that changes something', () => {
    // Logging out can be repeated by itself: the second time nobody is there to log out. Queries change nothing. An upload slot
    // is repeated by its bytes. Messages of MCP have an id of their own, by which an answer is taken up again. A payment
    // page is completed once, and the portal's buttons can be pressed again. Callbacks of payments have an id of their own.
    // The console's cookie is in the answer alone: it is kept nowhere, so it cannot be given again.
    const exempt = ['logOut', 'runQuery', 'validateQuery', 'putUpload', 'postMcp', 'closeMcpSession'];
    exempt.push('openConsoleSession', 'closeConsoleSession', 'beginOidcLogIn', 'finishOidcLogIn');
    exempt.push('completeCheckout', 'submitPortal', 'receiveBillingCallback');
    const changing = api.contract.operations.filter(({ method, id }) => method !== 'get' && !exempt.includes(id));
    expect(changing.filter(({ idempotent }) => !idempotent).map(({ id }) => id)).toEqual([]);
  });

  it('has its effect and its trace once, also on another process', async () => {
    const key = randomUUID();
    const answers = [await create(key, 'Once'), await create(key, 'Once'), await create(key, 'Once', undefined, second)];
    const ids = await Promise.all(answers.map(async (answer) => ((await answer.json()) as { id: string }).id));
    expect(new Set(ids).size).toBe(1);
    expect(await count('Once')).toBe(1);
    const { rows } = await api.sql.query(
      'SELECT (SELECT count(*)::int FROM audit_entries WHERE scope = $1) AS audit, (SELECT count(*)::int FROM usage_entries WHERE scope = $1) AS usage',
      [ids[0]],
    );
    expect(rows).toEqual([{ audit: 1, usage: 1 }]);
  });

  it('shows what was answered then, even if things have changed since', async () => {
    const key = randomUUID();
    const made = (await (await create(key, 'As it was')).json()) as { id: string };
    await api
      .as(world.owner.session)
      .PATCH('/api/v1/workbooks/{workbook_id}', { params: { path: { workbook_id: made.id } }, body: { title: 'As it is' } });
    expect(await (await create(key, 'As it was')).json()).toMatchObject({ id: made.id, title: 'As it was' });
  });

  it('without a key is another request', async () => {
    for (let i = 0; i < 2; i++) ok(await world.owner.client.POST('/api/v1/workbooks', { body: { title: 'Twice' } }));
    expect(await count('Twice')).toBe(2);
  });
});

describe('Idempotency-Key: a repeated request of somebody who has lost the right to read', () => {
  const send = (person: Person, path: string, body: object, key: string, method = 'POST') =>
    api.fetch(path, {
      method,
      token: person.session,
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
      body: JSON.stringify(body),
    });
  /** A workspace with a workbook, and a person who is its admin until they leave. */
  async function makeShared() {
    const person = await api.signUp('Passing');
    const workspaceId = await makeWorkspace(world.owner.client, 'Shared');
    const params = { path: { workspace_id: workspaceId } };
    const join = () =>
      world.owner.client.POST('/api/control/workspaces/{workspace_id}/users', { params, body: { email: person.email, role: 'admin' } });
    ok(await join());
    const workbookId = ok(await world.owner.client.POST('/api/v1/workbooks', { body: { title: 'Shared', workspace_id: workspaceId } })).id;
    const leave = async () =>
      ok(
        await world.owner.client.DELETE('/api/control/workspaces/{workspace_id}/users/{user_id}', {
          params: { path: { workspace_id: workspaceId, user_id: person.userId } },
        }),
      );
    return { person, workspaceId, workbookId, join, leave };
  }

  it('is refused as a reader would be, and answered again when the right is back', async () => {
    const { person, workspaceId, workbookId, join, leave } = await makeShared();
    const columns = [{ name: 'a', type: 'VARCHAR' }];
    const requests: [string, string, object, string][] = [
      ['POST', `/api/v1/workbooks/${workbookId}/tables`, { name: 'secret', columns }, 'not-found'],
      ['PATCH', `/api/v1/workbooks/${workbookId}`, { title: 'A secret title' }, 'not-found'],
      ['PATCH', `/api/control/workspaces/${workspaceId}`, { name: 'A secret name' }, 'not-found'],
      ['POST', '/api/v1/workbooks', { title: 'A secret workbook', workspace_id: workspaceId }, 'outside-reach'],
    ];
    const keys = requests.map(() => randomUUID());
    const sendAll = () => Promise.all(requests.map(([method, path, body], i) => send(person, path, body, keys[i] as string, method)));
    const first = await Promise.all((await sendAll()).map(async (answer) => [answer.ok, await answer.text()]));
    expect(first.map(([done]) => done)).toEqual(requests.map(() => true));
    await leave();
    for (const [i, answer] of (await sendAll()).entries())
      expect([answer.headers.get('idempotency-replayed'), (await problemOf(answer))[1]]).toEqual([null, requests[i]?.[3]]);
    ok(await join());
    expect(await Promise.all((await sendAll()).map(async (answer) => [answer.ok, await answer.text()]))).toEqual(first);
  });
});

describe('Idempotency-Key: the same key for another request', () => {
  it('is refused, whatever differs: body, path, query or method', async () => {
    const key = randomUUID();
    expect((await create(key, 'First')).status).toBe(201);
    expect(await problemOf(await create(key, 'Other'))).toEqual([422, 'idempotency-mismatch']);
    const send = (method: string, path: string, body?: string) =>
      api.fetch(path, {
        method,
        token: world.owner.session,
        headers: { 'Idempotency-Key': key, ...(body ? { 'Content-Type': 'application/json' } : {}) },
        ...(body ? { body } : {}),
      });
    expect(await problemOf(await send('POST', '/api/control/workspaces', '{"name":"First"}'))).toEqual([422, 'idempotency-mismatch']);
    expect(await problemOf(await send('DELETE', `/api/v1/workbooks/${world.workbook}`))).toEqual([422, 'idempotency-mismatch']);
    const keyed = randomUUID();
    const goner = await mintKey(world.owner.client);
    const revoke = (query: string) =>
      api.fetch(`/api/control/account/keys/${goner.id}${query}`, {
        method: 'DELETE',
        token: world.owner.session,
        headers: { 'Idempotency-Key': keyed },
      });
    expect((await revoke('')).status).toBe(204);
    expect(await problemOf(await revoke(`?account_id=${world.accountId}`))).toEqual([422, 'idempotency-mismatch']);
    expect(await count('Other')).toBe(0);
    expect(
      (await world.owner.client.GET('/api/v1/workbooks/{workbook_id}', { params: { path: { workbook_id: world.workbook } } })).response
        .status,
    ).toBe(200);
  });

  it('of another caller is no matter', async () => {
    const key = randomUUID();
    const [one, two] = [
      await mintKey(world.owner.client, { scopes: ['workbooks:write'] }),
      await mintKey(world.owner.client, { scopes: ['workbooks:write'] }),
    ];
    const answers = [
      await create(key, 'Everyone’s'),
      await create(key, 'Everyone’s', world.stranger.session),
      await create(key, 'Everyone’s', one.text),
      await create(key, 'Everyone’s', two.text),
      await create(key, 'Another body', world.viewer.session),
    ];
    expect(answers.map(({ status, headers }) => [status, headers.get('idempotency-replayed')])).toEqual(Array(5).fill([201, null]));
    expect(await count('Everyone’s')).toBe(4);
  });

  it('after a refusal is free: nothing was done', async () => {
    const account = await makeAccount(world.owner.client, 'Empty');
    const token = await mintToken(world.owner.client, { account_id: account, scopes: ['workbooks:write'] });
    const key = randomUUID();
    expect(await problemOf(await create(key, 'Patience', token.text))).toEqual([409, 'no-workspace']);
    await makeWorkspace(world.owner.client, 'Now there is one', account);
    expect((await create(key, 'Patience', token.text)).status).toBe(201);
    expect((await create(key, 'Patience', token.text)).headers.get('idempotency-replayed')).toBe('true');
  });
});

describe('Idempotency-Key: what is kept', () => {
  const stored = async (where: string) =>
    (
      await api.sql.query<{ body: Buffer; hours: number; key_hash: Buffer; headers: object }>(
        `SELECT body, key_hash, headers, extract(epoch FROM expires_at - created_at) / 3600 AS hours FROM idempotency ${where}`,
      )
    ).rows;

  it('is kept for 24 hours, then the key is as good as new', async () => {
    const key = randomUUID();
    await api.sql.query('DELETE FROM idempotency');
    const first = (await (await create(key, 'Expires')).json()) as { id: string };
    expect((await stored('')).map(({ hours }) => Math.round(Number(hours) * 100) / 100)).toEqual([24]);
    await api.sql.query("UPDATE idempotency SET expires_at = now() + interval '1 minute'");
    expect((await create(key, 'Expires')).headers.get('idempotency-replayed')).toBe('true');
    await api.sql.query("UPDATE idempotency SET expires_at = now() - interval '1 second'");
    const fresh = await create(key, 'Expires');
    expect([fresh.status, fresh.headers.get('idempotency-replayed')]).toEqual([201, null]);
    const second = (await fresh.json()) as { id: string };
    expect(second.id).not.toBe(first.id);
    expect(await (await create(key, 'Expires')).json()).toMatchObject({ id: second.id });
    await api.sql.query("UPDATE idempotency SET expires_at = now() - interval '1 second'");
    expect((await create(key, 'Expired, so another body is fine')).status).toBe(201);
  });

  it('is readable only with the key, of which a hash is kept', async () => {
    await api.sql.query('DELETE FROM idempotency');
    const key = `guessing-this-is-hard-${randomUUID()}`;
    const mint = () =>
      world.owner.client.POST('/api/v1/me/tokens', { params: { header: { 'Idempotency-Key': key } }, body: { name: 'kept' } });
    const made = ok(await mint());
    const [row] = await stored('');
    const text = `${row?.body.toString('latin1')} ${row?.key_hash.toString('latin1')} ${JSON.stringify(row?.headers)}`;
    for (const secret of [made.token, made.token.slice(-43), made.id, key]) expect(text).not.toContain(secret);
    expect(ok(await mint()).token).toBe(made.token);
    // The key, and nothing that is in the database, opens it.
    const body = row?.body ?? Buffer.alloc(0);
    expect(unseal(deriveKey(key, 'idempotent answer'), body).toString()).toContain(made.token);
    for (const other of [`${key}x`, row?.key_hash.toString('hex') ?? '', api.config.secret])
      expect(() => unseal(deriveKey(other, 'idempotent answer'), body)).toThrow();
  });
});

describe('Idempotency-Key: at the same moment', () => {
  it('20 requests with one key make one workbook; the others get its answer or are told to wait', async () => {
    for (let round = 0; round < 3; round++) {
      const title = `Crowd ${round}`;
      const key = randomUUID();
      const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => create(key, title, undefined, i % 2 ? api : second)));
      const made = answers.filter(({ status }) => status === 201);
      expect(answers.every(({ status }) => status === 201 || status === 409)).toBe(true);
      const ids = await Promise.all(made.map(async (answer) => ((await answer.json()) as { id: string }).id));
      expect([made.length > 0, new Set(ids).size, await count(title)]).toEqual([true, 1, 1]);
      expect(made.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(1);
      for (const waiting of answers.filter(({ status }) => status === 409)) {
        expect(waiting.headers.get('retry-after')).toBe('1');
        expect(await problemOf(waiting)).toEqual([409, 'idempotency-in-progress']);
      }
      expect(await (await create(key, title)).json()).toMatchObject({ id: ids[0] });
    }
  });

  it('40 clients with 8 requests each lose nothing', async () => {
    const shared = ok(await world.owner.client.POST('/api/v1/workbooks', { body: { title: 'Everybody writes here' } })).id;
    const tokens = await Promise.all(Array.from({ length: 40 }, () => mintToken(world.owner.client, { scopes: ['workbooks:write'] })));
    const change = ({ id, text }: Minted, i: number) =>
      api.fetch(i % 2 ? `/api/v1/workbooks/${shared}` : '/api/v1/workbooks', {
        method: i % 2 ? 'PATCH' : 'POST',
        token: text,
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': `${id} ${i}` },
        body: JSON.stringify({ title: i % 2 ? `Everybody writes here, ${id} ${i}` : 'One of 160' }),
      });
    // Too busy is an answer as well; the same key then makes it safe to ask again.
    const persist = async (token: Minted, i: number) => {
      for (;;) {
        const answer = await change(token, i);
        if (answer.status !== 503 && answer.status !== 409) return answer;
      }
    };
    const answers = await Promise.all(tokens.flatMap((token) => Array.from({ length: 8 }, (_, i) => persist(token, i))));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(160).fill(200), ...Array(160).fill(201)]);
    const made = await Promise.all(
      answers.filter(({ status }) => status === 201).map(async (answer) => ((await answer.json()) as { id: string }).id),
    );
    expect([new Set(made).size, await count('One of 160')]).toEqual([160, 160]);
    const log = ok(
      await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/audit-log', {
        params: { path: { workbook_id: shared }, query: { limit: 1000 } },
      }),
    );
    expect([log.chain_valid, log.entries.map(({ seq }) => seq)]).toEqual([true, Array.from({ length: 161 }, (_, i) => 161 - i)]);
  });
});
