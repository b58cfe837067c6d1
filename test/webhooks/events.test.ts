import { describe, expect, it } from 'vitest';
import { ok, refused } from '../setup/api.ts';
import { makeWorkbook, mintKey, mintToken } from '../setup/credentials.ts';
import { editRows, makeTable } from '../setup/tables.ts';
import { readEvents, type ServiceEvent, useWebhookWorld } from './world.ts';

/** The events as pages and as a stream. */

const world = await useWebhookWorld();
const { api, owner } = world;

const versionsOf = (events: ServiceEvent[]) => events.map(({ data }) => ('edit_version' in data ? data.edit_version : null));

interface Stream {
  events: ServiceEvent[];
  ids: string[];
  /** Nothing more came for now, so many times. */
  pauses: number;
  ended: Promise<void>;
  leave(): void;
}

async function follow(token: string, query = '', headers: Record<string, string> = {}): Promise<Stream> {
  const left = new AbortController();
  const answer = await fetch(`${api.url}/api/v1/me/events${query}`, {
    headers: { Authorization: `Bearer ${token}`, Accept: 'text/event-stream', ...headers },
    signal: left.signal,
  });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  const stream: Stream = { events: [], ids: [], pauses: 0, ended: Promise.resolve(), leave: () => left.abort() };
  stream.ended = (async () => {
    let text = '';
    for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        if (part === ': nothing new') stream.pauses += 1;
        const data = /^data: (.*)$/m.exec(part)?.[1];
        if (data === undefined) continue;
        const event = JSON.parse(data) as ServiceEvent;
        expect([/^event: (.*)$/m.exec(part)?.[1], /^id: (.*)$/m.exec(part)?.[1]]).toEqual([event.type, event.id]);
        stream.events.push(event);
        stream.ids.push(event.id);
      }
    }
  })().catch(() => {});
  return stream;
}

describe('listEvents', () => {
  it('pages what happened in the order in which it happened, and goes on after an id', async () => {
    const book = await world.makeBook('Pages');
    for (let n = 1; n <= 6; n += 1) await editRows(owner.client, book, '表', [{ a: n }]);
    await expect.poll(async () => versionsOf(await readEvents(owner.client, book))).toEqual([1, 2, 3, 4, 5, 6, 7]);
    const events = await readEvents(owner.client, book);
    expect(events[0]).toEqual({
      id: expect.stringMatching(/^evt_/),
      type: 'artifact.updated',
      created_at: expect.any(String),
      workbook_id: book,
      workspace_id: world.team,
      actor: 'Owner',
      data: { artifact_id: expect.stringMatching(/^tbl_/), name: '表', kind: 'table', edit_version: 1 },
    });
    const after = await api.fetch(`/api/v1/me/events?workbook_id=${book}&limit=2`, {
      token: owner.session,
      headers: { 'Last-Event-ID': events[3]?.id ?? '' },
    });
    expect(versionsOf(((await after.json()) as { events: ServiceEvent[] }).events)).toEqual([5, 6]);
    expect(await readEvents(owner.client, book, ['snapshot.committed', 'job.completed'])).toEqual([]);
    expect(await readEvents(owner.client, book, ['snapshot.committed', 'artifact.updated'])).toEqual(events);
  });

  it('shows each caller what they can see and their credential reaches', async () => {
    const [member, stranger] = [await api.signUp('Member'), await api.signUp('Stranger')];
    await world.addMember(member, 'viewer');
    const shared = await world.makeBook('Shared');
    const own = await makeWorkbook(owner.client, 'Own', world.team);
    ok(
      await owner.client.PATCH('/api/v1/workbooks/{workbook_id}', {
        params: { path: { workbook_id: own } },
        body: { visibility: 'private' },
      }),
    );
    await makeTable(owner.client, own, '表', [{ name: 'a', type: 'BIGINT' }]);
    await expect.poll(async () => (await readEvents(owner.client, own)).length).toBe(1);
    const booksOf = async (token: string) => {
      const seen = new Set<string | null>();
      for (let query = '?limit=1000'; query !== ''; ) {
        const { events, next_cursor } = (await (await api.fetch(`/api/v1/me/events${query}`, { token })).json()) as {
          events: ServiceEvent[];
          next_cursor: string | null;
        };
        for (const event of events) seen.add(event.workbook_id);
        query = next_cursor === null ? '' : `?limit=1000&cursor=${next_cursor}`;
      }
      return [shared, own].map((id) => seen.has(id));
    };
    expect(await booksOf(owner.session)).toEqual([true, true]);
    expect(await booksOf(member.session)).toEqual([true, false]);
    expect(await booksOf(stranger.session)).toEqual([false, false]);
    const pinned = await mintToken(owner.client, { resource: `workbook:${own}`, scopes: ['workbooks:read'] });
    expect(await booksOf(pinned.text)).toEqual([false, true]);
    const inTeam = await mintKey(owner.client, { workspace_id: world.team });
    expect(await booksOf(inTeam.text)).toEqual([true, true]);
    const ask = (token: string, id: string) => api.as(token).GET('/api/v1/me/events', { params: { query: { workbook_id: id } } });
    refused(await ask(member.session, own), 403, 'outside-reach');
    refused(await ask(pinned.text, shared), 403, 'outside-reach');
    refused(await ask(owner.session, 'nothing'), 403, 'outside-reach');
  });

  it.each([
    ['?events=artifact.eaten', {}, 422, 'validation-failed'],
    ['?events=webhook.test', {}, 422, 'validation-failed'],
    ['?cursor=bm90aGluZw', {}, 422, 'validation-failed'],
    ['?limit=1001', {}, 422, 'validation-failed'],
    ['', { 'Last-Event-ID': 'evt_1' }, 422, 'validation-failed'],
    ['', { 'Last-Event-ID': `evt_${'0'.repeat(26)}` }, 410, 'expired'],
  ])('refuses %s %o', async (query, headers, status, slug) => {
    for (const accept of ['application/json', 'text/event-stream']) {
      const answer = await api.fetch(`/api/v1/me/events${query}`, {
        token: owner.session,
        headers: { ...headers, Accept: accept } as Record<string, string>,
      });
      expect([answer.status, ((await answer.json()) as { type: string }).type]).toEqual([status, `urn:svc:problem:${slug}`]);
    }
  });
});

describe('the stream of events', () => {
  it('tells what is kept, then what happens, and is taken up again where it broke', async () => {
    const book = await world.makeBook('Stream');
    await expect.poll(async () => (await readEvents(owner.client, book)).length).toBe(1);
    const stream = await follow(owner.session, `?workbook_id=${book}`);
    await expect.poll(() => [versionsOf(stream.events), stream.pauses > 0]).toEqual([[1], true]);
    for (let n = 1; n <= 3; n += 1) await editRows(owner.client, book, '表', [{ a: n }]);
    await expect.poll(() => versionsOf(stream.events)).toEqual([1, 2, 3, 4]);
    stream.leave();
    await stream.ended;
    for (let n = 1; n <= 2; n += 1) await editRows(owner.client, book, '表', [{ a: n }]);
    const again = await follow(owner.session, `?workbook_id=${book}`, { 'Last-Event-ID': stream.ids[1] as string });
    await expect.poll(() => versionsOf(again.events)).toEqual([3, 4, 5, 6]);
    expect(await readEvents(owner.client, book)).toEqual([...stream.events.slice(0, 2), ...again.events]);
    again.leave();
  });

  it('ends when the credential does, and tells nothing of what is hidden meanwhile', async () => {
    const member = await api.signUp('Leaver');
    await world.addMember(member, 'viewer');
    const token = await mintToken(owner.client, { scopes: ['workbooks:read'] });
    const book = await world.makeBook('Ending');
    const [own, other] = [await follow(token.text, `?workbook_id=${book}`), await follow(member.session)];
    await expect.poll(() => [versionsOf(own.events), other.events.some((event) => event.workbook_id === book)]).toEqual([[1], true]);
    ok(await owner.client.DELETE('/api/v1/me/tokens/{token_id}', { params: { path: { token_id: token.id } } }));
    ok(
      await owner.client.DELETE('/api/control/workspaces/{workspace_id}/users/{user_id}', {
        params: { path: { workspace_id: world.team, user_id: member.userId } },
      }),
    );
    const seen = other.events.length;
    await editRows(owner.client, book, '表', [{ a: 1 }]);
    await own.ended;
    expect(versionsOf(own.events)).toEqual([1]);
    const pauses = other.pauses;
    await expect.poll(() => other.pauses).toBeGreaterThan(pauses);
    expect(other.events.length).toBe(seen);
    other.leave();
  });

  it('is bounded in number for each caller', async () => {
    const token = await mintToken(owner.client, { scopes: ['workbooks:read'] });
    const streams: Stream[] = [];
    for (let n = 0; n < 50; n += 1) streams.push(await follow(token.text));
    const headers = { Accept: 'text/event-stream' };
    const oneMore = await api.fetch('/api/v1/me/events', { token: token.text, headers });
    expect([oneMore.status, ((await oneMore.json()) as { type: string }).type]).toEqual([429, 'urn:svc:problem:rate-limited']);
    for (const stream of streams) stream.leave();
    await expect
      .poll(async () => {
        const stream = await follow(token.text).catch(() => null);
        stream?.leave();
        return stream !== null;
      })
      .toBe(true);
  });
});
