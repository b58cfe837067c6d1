import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeId } from '../../store/services.ts';
import { makeJob } from '../contract/world.ts';
import { type ApiClient, ok, type Person, refused, startTestApi, type TestApi } from '../setup/api.ts';
import { makeAccount, makeWorkbook, makeWorkspace, mintKey, mintToken } from '../setup/credentials.ts';

/** Every list, by cursor, while entries are added: nothing is skipped and nothing comes twice. */

let api: TestApi;
let owner: Person;
let accountId: string;
let workspaceId: string;
let workbookId: string;
const people: Person[] = [];

beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  owner = await api.signUp('Owner');
  accountId = ok(await owner.client.GET('/api/v1/me')).account_id;
  workspaceId = await makeWorkspace(owner.client, 'Paged');
  workbookId = await makeWorkbook(owner.client, 'Paged', workspaceId);
  people.push(...(await Promise.all(Array.from({ length: 9 }, () => api.signUp()))));
});
afterAll(() => api.stop());

interface Listed {
  ids: string[];
  next: string | null;
}
interface List {
  make(): Promise<unknown>;
  read(client: ApiClient, query: { cursor?: string; limit: number }): Promise<Listed>;
  /** Where additions come: before what was seen, or at the end. */
  order: 'newest first' | 'oldest first';
}

const inWorkspace = () => ({ workspace_id: workspaceId });
const page = <T>(items: T[], id: (item: T) => string, next: string | null | undefined): Listed => ({
  ids: items.map(id),
  next: next ?? null,
});
let joined = 0;

const lists: Record<string, List> = {
  workbooks: {
    order: 'newest first',
    make: () => makeWorkbook(owner.client, 'One more'),
    async read(client, query) {
      const { workbooks, next_cursor } = ok(await client.GET('/api/v1/workbooks', { params: { query } }));
      return page(workbooks, ({ id }) => id, next_cursor);
    },
  },
  'one’s own workbooks': {
    order: 'newest first',
    make: () => makeWorkbook(owner.client, 'One more'),
    async read(client, query) {
      const { workbooks, next_cursor } = ok(await client.GET('/api/v1/me/workbooks', { params: { query } }));
      return page(workbooks, ({ id }) => id, next_cursor);
    },
  },
  'workbooks of a workspace': {
    order: 'newest first',
    make: () => makeWorkbook(owner.client, 'One more', workspaceId),
    async read(client, query) {
      const path = inWorkspace();
      const { workbooks, next_cursor } = ok(
        await client.GET('/api/control/workspaces/{workspace_id}/workbooks', { params: { path, query } }),
      );
      return page(workbooks, ({ id }) => id, next_cursor);
    },
  },
  tokens: {
    order: 'newest first',
    make: () => mintToken(owner.client),
    async read(client, query) {
      const { tokens, next_cursor } = ok(await client.GET('/api/v1/me/tokens', { params: { query } }));
      return page(tokens, ({ id }) => id, next_cursor);
    },
  },
  keys: {
    order: 'newest first',
    make: () => mintKey(owner.client),
    async read(client, query) {
      const { keys, next_cursor } = ok(await client.GET('/api/control/account/keys', { params: { query } }));
      return page(keys, ({ id }) => id, next_cursor);
    },
  },
  jobs: {
    order: 'newest first',
    make: () => makeJob(api, { accountId, userId: owner.userId, workbookId }),
    async read(client, query) {
      const { jobs, next_cursor } = ok(await client.GET('/api/v1/jobs', { params: { query } }));
      return page(jobs, ({ job_id }) => job_id, next_cursor);
    },
  },
  'entries of the audit log': {
    order: 'newest first',
    make: () =>
      owner.client.PATCH('/api/v1/workbooks/{workbook_id}', {
        params: { path: { workbook_id: workbookId } },
        body: { title: `Paged ${makeId('req')}` },
      }),
    async read(client, query) {
      const path = { workbook_id: workbookId };
      const { entries, next_cursor } = ok(await client.GET('/api/v1/workbooks/{workbook_id}/audit-log', { params: { path, query } }));
      return page(entries, ({ seq }) => String(seq), next_cursor);
    },
  },
  workspaces: {
    order: 'oldest first',
    make: () => makeWorkspace(owner.client, 'One more'),
    async read(client, query) {
      const { workspaces, next_cursor } = ok(await client.GET('/api/control/workspaces', { params: { query } }));
      return page(workspaces, ({ id }) => id, next_cursor);
    },
  },
  'workspaces within reach': {
    order: 'oldest first',
    make: () => makeWorkspace(owner.client, 'One more'),
    async read(client, query) {
      const { workspaces, next_cursor } = ok(await client.GET('/api/v1/me/workspaces', { params: { query } }));
      return page(workspaces, ({ id }) => id, next_cursor);
    },
  },
  accounts: {
    order: 'oldest first',
    make: () => makeAccount(owner.client, 'One more'),
    async read(client, query) {
      const { accounts, next_cursor } = ok(await client.GET('/api/control/accounts', { params: { query } }));
      return page(accounts, ({ id }) => id, next_cursor);
    },
  },
  members: {
    order: 'oldest first',
    make: async () => {
      const { email } = people.sort((a, b) => a.userId.localeCompare(b.userId))[joined++] as Person;
      const params = { path: inWorkspace() };
      return ok(await owner.client.POST('/api/control/workspaces/{workspace_id}/users', { params, body: { email, role: 'viewer' } }));
    },
    async read(client, query) {
      const path = inWorkspace();
      const { users, next_cursor } = ok(await client.GET('/api/control/workspaces/{workspace_id}/users', { params: { path, query } }));
      return page(users, ({ user }) => user.id, next_cursor);
    },
  },
};

const { workbooks, accounts } = lists as Record<'workbooks' | 'accounts', List>;

describe.each(Object.entries(lists))('paging: the list of %s', (_, list) => {
  it('comes in pages, whole, while entries are added', async () => {
    for (let i = 0; i < 5; i++) await list.make();
    const before = (await list.read(owner.client, { limit: 1000 })).ids;
    expect(before.length).toBeGreaterThanOrEqual(5);

    const seen: string[] = [];
    let cursor: string | undefined;
    for (let pages = 0; ; pages++) {
      const { ids, next } = await list.read(owner.client, { limit: 2, ...(cursor ? { cursor } : {}) });
      seen.push(...ids);
      if (pages < 3) await list.make();
      if (next === null) break;
      expect(ids).toHaveLength(2);
      cursor = next;
    }
    expect(new Set(seen).size).toBe(seen.length);
    const after = (await list.read(owner.client, { limit: 1000 })).ids;
    // What was added comes before the first page, where nobody looks again, or after the last one.
    expect(seen).toEqual(list.order === 'newest first' ? before : after);
  });

  it('has one page when it fits, and a cursor only when more is to come', async () => {
    const all = await list.read(owner.client, { limit: 1000 });
    expect(all.next).toBeNull();
    expect((await list.read(owner.client, { limit: all.ids.length })).next).toBeNull();
    expect((await list.read(owner.client, { limit: all.ids.length - 1 })).next).not.toBeNull();
  });
});

describe('paging: a cursor', () => {
  it('goes on where it was when its own entry is gone', async () => {
    const { ids, next } = await workbooks.read(owner.client, { limit: 2 });
    ok(await owner.client.DELETE('/api/v1/workbooks/{workbook_id}', { params: { path: { workbook_id: ids[1] ?? '' } } }));
    const rest = await workbooks.read(owner.client, { limit: 1000, cursor: next ?? '' });
    expect(rest.ids.filter((id) => ids.includes(id))).toEqual([]);
    expect(rest.ids.length).toBeGreaterThan(2);
  });

  it('does so for accounts, too', async () => {
    const { ids, next } = await accounts.read(owner.client, { limit: 2 });
    await api.sql.query('UPDATE accounts SET deleted_at = now() WHERE id = $1', [ids[1]]);
    const rest = await accounts.read(owner.client, { limit: 1000, cursor: next ?? '' });
    expect(rest.ids.filter((id) => ids.includes(id))).toEqual([]);
  });

  it('of one person is of no use to another', async () => {
    const stranger = await api.signUp();
    const { next } = await workbooks.read(owner.client, { limit: 2 });
    const answer = await stranger.client.GET('/api/v1/workbooks', { params: { query: { cursor: next ?? '' } } });
    expect(ok(answer).workbooks).toEqual([]);
  });

  it('that is none is refused', async () => {
    for (const cursor of ['x', '""', 'e30', Buffer.from('[1]').toString('base64url'), Buffer.from('["a","b"]').toString('base64url')])
      refused(await owner.client.GET('/api/v1/workbooks', { params: { query: { cursor } } }), 422, 'validation-failed');
  });
});
