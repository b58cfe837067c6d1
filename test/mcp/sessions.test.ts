import { describe, expect, it } from 'vitest';
import { ok } from '../setup/api.ts';
import { mintToken } from '../setup/credentials.ts';
import { useWorkbook } from '../tables/tableDriver.ts';
import { connect } from './client.ts';

const { api, world } = await useWorkbook();
const workbook_id = world.workbookId;
const { text: token, id: tokenId } = await mintToken(world.owner.client, { scopes: ['workbooks:read', 'workbooks:write'] });
await world.makeTable('売上', [{ name: '金額', type: 'BIGINT' }]);

const accept = 'application/json, text/event-stream';
const version = '2025-11-25';

interface Sent {
  method?: string;
  token?: string;
  session?: string | null;
  headers?: Record<string, string>;
  body?: object;
  server?: Pick<typeof api, 'fetch'>;
}

function send({ method = 'POST', session, headers, body, server = api, ...rest }: Sent): Promise<Response> {
  return server.fetch('/mcp', {
    method,
    token: rest.token ?? token,
    headers: {
      Accept: accept,
      'MCP-Protocol-Version': version,
      ...(body ? { 'Content-Type': 'application/json' } : {}),
      ...(session ? { 'Mcp-Session-Id': session } : {}),
      ...headers,
    },
    ...(body ? { body: JSON.stringify({ jsonrpc: '2.0', ...body }) } : {}),
  });
}

async function begin(more: Sent = {}): Promise<string> {
  const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const answer = await send({ body: { id: 0, method: 'initialize', params }, ...more });
  expect(answer.status).toBe(200);
  return answer.headers.get('mcp-session-id') ?? '';
}

const list = { id: 1, method: 'tools/list' };
const statusOf = async (sent: Sent) => (await send(sent)).status;
const edit = (amount: number) => ({
  id: 7,
  method: 'tools/call',
  params: { name: 'edit_rows', arguments: { workbook_id, table: '売上', expected_version: null, rows: [{ 金額: amount }] } },
});

/** The events of a stream, in order. */
function readEvents(text: string): { id: string | undefined; message: { id?: number; result?: { structuredContent: object } } | null }[] {
  return text
    .split('\n\n')
    .filter((part) => /^data:/m.test(part))
    .map((part) => {
      const data = /^data: ?(.*)$/m.exec(part)?.[1] ?? '';
      return { id: /^id: (.*)$/m.exec(part)?.[1], message: data === '' ? null : (JSON.parse(data) as { id?: number }) };
    });
}

describe('a page in a browser', () => {
  const answerTo = async (origin: string) =>
    (await send({ session: await begin(), headers: { Origin: origin }, body: { id: 1, method: 'ping' } })).status;

  it('is let in from the service itself, and from nowhere else', async () => {
    expect(await answerTo(api.url)).toBe(200);
    for (const origin of ['https://elsewhere.example', 'null', `${api.url}1`, 'http://localhost']) expect(await answerTo(origin)).toBe(403);
  });
});

describe('a session', () => {
  it('belongs to the credential that began it', async () => {
    const session = await begin();
    expect(await statusOf({ session, body: list })).toBe(200);
    const { text: other } = await mintToken(world.owner.client, { scopes: ['workbooks:read', 'workbooks:write'] });
    for (const sent of [{ body: list }, { method: 'DELETE' }, { method: 'GET', headers: { 'Last-Event-ID': 'a.0' } }])
      for (const mine of [other, world.owner.session])
        expect([sent, await statusOf({ ...sent, session, token: mine })]).toEqual([sent, 404]);
    expect(await statusOf({ session, body: list })).toBe(200);
  });

  it('is named by every message but the first, and ends', async () => {
    const session = await begin();
    expect(await statusOf({ body: list })).toBe(400);
    expect(await statusOf({ session, body: { method: 'notifications/initialized' } })).toBe(202);
    expect(await statusOf({ session, body: { id: 3, result: {} } })).toBe(202);
    expect(await statusOf({ session, method: 'DELETE' })).toBe(204);
    expect(await statusOf({ session, body: list })).toBe(404);
    expect(await statusOf({ session, method: 'DELETE' })).toBe(404);
  });

  it('is known to every process, and outlives them', async () => {
    const server = await api.another();
    const session = await begin();
    expect(await statusOf({ session, body: list, server })).toBe(200);
    const elsewhere = await begin({ server });
    await server.stop();
    expect(await statusOf({ session: elsewhere, body: list })).toBe(200);
  });

  it('ends after a day without use', async () => {
    const session = await begin();
    await api.sql.query("UPDATE mcp_sessions SET used_at = now() - interval '2 hours'");
    expect(await statusOf({ session, body: list })).toBe(200);
    const { rows } = await api.sql.query("SELECT 1 FROM mcp_sessions WHERE used_at > now() - interval '1 hour'");
    expect(rows).toHaveLength(1);
    await api.sql.query("UPDATE mcp_sessions SET used_at = now() - interval '25 hours'");
    expect(await statusOf({ session, body: list })).toBe(404);
  });

  it('is one of few: the one that was not used for longest ends', async () => {
    const first = await begin();
    await api.sql.query("UPDATE mcp_sessions SET used_at = now() - interval '1 hour'");
    for (let i = 0; i < 50; i += 1) await begin();
    expect(await statusOf({ session: first, body: list })).toBe(404);
    const { rows } = await api.sql.query('SELECT 1 FROM mcp_sessions WHERE credential_id = $1', [tokenId]);
    expect(rows).toHaveLength(50);
  });

  it('is of no use when its credential was revoked', async () => {
    const minted = await mintToken(world.owner.client, { scopes: ['workbooks:read'] });
    const session = await begin({ token: minted.text });
    ok(await world.owner.client.DELETE('/api/v1/me/tokens/{token_id}', { params: { path: { token_id: minted.id } } }));
    expect(await statusOf({ session, token: minted.text, body: list })).toBe(401);
  });

  it('is not told by the database, and neither are its answers', async () => {
    const session = await begin();
    await (await send({ session, body: edit(987_654) })).text();
    const { rows } = await api.sql.query<{ text: string }>(
      "SELECT encode(id_hash, 'escape') AS text FROM mcp_sessions UNION ALL SELECT encode(message, 'escape') FROM mcp_events",
    );
    for (const { text } of rows) expect([text.includes(session), text.includes('row_ids')]).toEqual([false, false]);
  });
});

describe('a stream that breaks', () => {
  it('answers edits by a stream, and reads without', async () => {
    const session = await begin();
    const edited = await send({ session, body: edit(1) });
    expect(edited.headers.get('content-type')).toContain('text/event-stream');
    const events = readEvents(await edited.text());
    expect(events.map(({ id, message }) => [id?.split('.')[1], message?.id])).toEqual([
      ['0', undefined],
      ['1', 7],
    ]);
    const read = await send({ session, body: list });
    expect(read.headers.get('content-type')).toContain('application/json');
    const plain = await send({ session, body: edit(2), headers: { Accept: 'application/json' } });
    expect([
      plain.headers.get('content-type'),
      ((await plain.json()) as { result: { structuredContent: object } }).result.structuredContent,
    ]).toMatchObject(['application/json; charset=utf-8', { inserted: 1 }]);
  });

  it('is taken up where it broke, by any process, and its call is done once', async () => {
    const server = await api.another();
    const session = await begin();
    const cut = new AbortController();
    const answer = await fetch(`${api.url}/mcp`, {
      method: 'POST',
      signal: cut.signal,
      headers: {
        Authorization: `Bearer ${token}`,
        Accept: accept,
        'Content-Type': 'application/json',
        'Mcp-Session-Id': session,
        'MCP-Protocol-Version': version,
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...edit(4242) }),
    });
    const first = Buffer.from((await answer.body?.getReader().read())?.value ?? []).toString();
    cut.abort();
    const [primer] = readEvents(first);
    const resumed = await send({
      method: 'GET',
      session,
      server,
      headers: { Accept: 'text/event-stream', 'Last-Event-ID': primer?.id ?? '' },
    });
    const [event, ...rest] = readEvents(await resumed.text());
    expect([event?.message, rest]).toMatchObject([{ id: 7, result: { structuredContent: { inserted: 1 } } }, []]);
    await server.stop();
    const { rows } = await api.sql.query('SELECT 1 FROM mcp_events WHERE stream_id = $1', [primer?.id?.split('.')[0]]);
    expect(rows).toHaveLength(1);
    const agent = await connect(api.url, token);
    expect((await agent.call<{ row_count: number }>('read_rows', { workbook_id, table: '売上', filter: '金額 = 4242' })).row_count).toBe(1);
    await agent.client.close();
  });

  it('is asked for as the protocol says', async () => {
    const session = await begin();
    expect(await statusOf({ method: 'GET', session, headers: { Accept: 'text/event-stream' } })).toBe(405);
    expect(await statusOf({ method: 'GET', session, headers: { Accept: 'application/json', 'Last-Event-ID': 'a.0' } })).toBe(405);
    expect(await statusOf({ method: 'GET', session, headers: { 'Last-Event-ID': 'nonsense' } })).toBe(400);
    expect(await statusOf({ method: 'GET', session: null, headers: { 'Last-Event-ID': 'a.0' } })).toBe(400);
    expect(await statusOf({ session, body: list, headers: { 'MCP-Protocol-Version': '1999-01-01' } })).toBe(400);
    expect(await statusOf({ session, body: { id: 1 } })).toBe(400);
  });
});
