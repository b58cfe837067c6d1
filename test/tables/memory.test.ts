import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ok, refused } from '../setup/api.ts';
import { openTestStore, type TestStore } from './store.ts';
import { type DrivenTable, driveTable } from './tableDriver.ts';

/** The engine of a process has one limit of memory for all that it reads: past it a caller is asked, in words, to come back. */

let store: TestStore;
let table: DrivenTable;

beforeAll(async () => {
  store = await openTestStore();
  await store.makeLargeTable('large', 300_000);
  table = driveTable(store.owner, store.workbook.id, 'large');
});
afterEach(() => limitMemory('1024MB'));
afterAll(() => store?.stop());

const limitMemory = (limit: string) => store.services.engine.use((connection) => connection.run(`SET memory_limit = '${limit}'`));

type Asked = { error?: unknown; response: Response };

async function expectAskedBack(ask: () => Promise<Asked>): Promise<void> {
  await limitMemory('1MB');
  const answer = await ask();
  expect(refused(answer, 503, 'unavailable')).toMatchObject({
    detail: 'This needs more memory than there is just now.',
    suggested_fix: 'Ask for fewer rows or columns at a time, or try again in a moment.',
  });
  expect(answer.response.headers.get('Retry-After')).toBe('2');
  await limitMemory('1024MB');
  ok(await ask());
}

const rows = '/api/v1/workbooks/{workbook_id}/tables/{name}/rows' as const;
const read = (query: Record<string, unknown>, accept = 'application/json') =>
  store.owner.client.GET(rows, {
    params: { path: table.path, query },
    headers: { Accept: accept },
    ...(accept === 'application/json' ? {} : { parseAs: 'arrayBuffer' as const }),
  }) as Promise<Asked>;

describe('the engine with too little memory', () => {
  it.each([
    ['a page', () => read({ limit: 10_000 })],
    ['a page far down', () => read({ limit: 10, offset: 200_000 })],
    ['a sorted page', () => read({ limit: 10_000, sort: ['t'] })],
    ['lines', () => read({ limit: 10_000, sort: ['t'] }, 'application/x-ndjson')],
    ['a stream of Arrow', () => read({ limit: 10_000, sort: ['t'] }, 'application/vnd.apache.arrow.stream')],
    ['a range', () => table.range('A200000:B200100')],
    ['a profile', () => store.owner.client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/profile', { params: { path: table.path } })],
    ['an edit of rows here and there', () => table.upsert(Array.from({ length: 5_000 }, (_, i) => ({ __svc_row_id: i * 50 + 1, t: 'x' })))],
    ['a retype', () => table.retype('n', 'DECIMAL(18,0)')],
  ] as [string, () => Promise<Asked>][])('%s is asked for again later, and is there then', async (_, ask) => {
    await expectAskedBack(ask);
  });

  it('what needs none of it goes on', async () => {
    await limitMemory('1MB');
    expect((await table.read({ limit: 3 })).rows.map((row) => row.__svc_row_id)).toEqual([1, 2, 3]);
    ok(await table.upsert([{ __svc_row_id: 2, t: 'small' }]));
    expect((await table.read({ limit: 2 })).rows[1]?.t).toBe('small');
  });
});
