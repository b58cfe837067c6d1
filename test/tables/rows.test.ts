import { describe, expect, it } from 'vitest';
import { ok, refused } from '../setup/api.ts';
import { useWorkbook } from './tableDriver.ts';

const { api, world } = await useWorkbook();
const { owner, workbookId, makeTable } = world;
const rowsPath = '/api/v1/workbooks/{workbook_id}/tables/{name}/rows' as const;

describe('upsertRows and readRows: rows', () => {
  it('come back as they were written, every digit kept', async () => {
    const table = await makeTable('売上', [
      { name: '品目' },
      { name: '金額', type: 'DECIMAL(18,2)' },
      { name: '数', type: 'BIGINT' },
      { name: '率', type: 'DOUBLE' },
      { name: '日', type: 'DATE' },
      { name: '時', type: 'TIMESTAMP' },
      { name: '可', type: 'BOOLEAN' },
      { name: '他', type: 'JSON' },
    ]);
    const written = ok(
      await table.upsert(
        [
          {
            品目: 'りんご "赤"\n',
            金額: '1234567890123456.78',
            数: '9223372036854775807',
            率: 0.1,
            日: '2024-04-01',
            時: '2024-04-01T09:30:00.5',
            可: true,
            他: { a: [1, 'x', null] },
          },
          { 品目: null },
        ],
        1,
      ),
    );
    expect(written).toMatchObject({ edit_version: 2, inserted: 2, updated: 0, row_ids: [1, 2] });
    const page = await table.read();
    expect(page).toMatchObject({ edit_version: 2, row_count: 2, next_cursor: null });
    expect(page.rows[0]).toEqual({
      品目: 'りんご "赤"\n',
      金額: '1234567890123456.78',
      数: '9223372036854775807',
      率: 0.1,
      日: '2024-04-01',
      時: '2024-04-01T09:30:00.500000',
      可: true,
      他: { a: [1, 'x', null] },
      __svc_row_id: 1,
    });
  });

  it('are locked by version: the 409 lists the changed cells', async () => {
    const table = await makeTable('locked', [{ name: 'a', type: 'BIGINT' }, { name: 'b' }]);
    ok(await table.upsert([{ a: 1, b: 'x' }], 1));
    ok(await table.upsert([{ __svc_row_id: 1, a: 2 }], 2));
    const problem = refused(await table.upsert([{ __svc_row_id: 1, a: 3 }], 2), 409, 'version-conflict');
    expect(problem).toMatchObject({ current_version: 3, changed: [{ row_id: 1, columns: ['a'] }] });
    expect(
      ok(
        await owner.client.POST(rowsPath, {
          params: { path: table.path },
          body: { rows: [{ __svc_row_id: 1, b: 'y' }], expected_version: 2, rebase: true },
        }),
      ).edit_version,
    ).toBe(4);
    expect((await table.read()).rows).toEqual([{ a: 2, b: 'y', __svc_row_id: 1 }]);
    expect((await table.read({ at_version: 2 })).rows).toEqual([{ a: 1, b: 'x', __svc_row_id: 1 }]);
  });

  it('are refused with a word about the columns when those have changed, rebased or not', async () => {
    const table = await makeTable('列変更', [{ name: 'a' }]);
    ok(await table.upsert([{ a: 'x' }], 1));
    const path = table.path;
    ok(
      await owner.client.POST('/api/v1/workbooks/{workbook_id}/artifacts/{name}/columns', {
        params: { path },
        body: { column: 'b', expected_version: 2 },
      }),
    );
    for (const rebase of [true, false]) {
      const answer = await owner.client.POST(rowsPath, { params: { path }, body: { rows: [{ a: 'y' }], expected_version: 2, rebase } });
      expect(refused(answer, 409, 'version-conflict')).toMatchObject({
        detail: expect.stringContaining('columns have changed'),
        suggested_fix: expect.stringContaining('columns'),
        current_version: 3,
        changed: [],
      });
    }
  });

  it('are written by sixteen at once who do not check the version, and nobody is sent away', async () => {
    const table = await makeTable('crowded', [
      { name: 'writer', type: 'BIGINT' },
      { name: 'n', type: 'BIGINT' },
    ]);
    const [writers, each] = [16, 6];
    await Promise.all(
      Array.from({ length: writers }, async (_, writer) => {
        for (let n = 0; n < each; n += 1) ok(await table.upsert([{ writer, n }]));
      }),
    );
    const { rows, edit_version } = await table.read({ limit: 1000 });
    expect(edit_version).toBe(1 + writers * each);
    expect(new Set(rows.map(({ writer, n }) => `${writer} ${n}`)).size).toBe(writers * each);
  });

  it('can be many: a large insert and a large update are files, and read the same', async () => {
    const table = await makeTable('large', [{ name: 'n', type: 'BIGINT' }, { name: 't' }]);
    const rows = Array.from({ length: 5000 }, (_, i) => ({ n: i, t: `text ${i}, "q" \\N` }));
    const first = ok(await table.upsert(rows, 1));
    expect(first.row_ids.length).toBe(5000);
    const ids = first.row_ids;
    ok(await table.upsert([{ __svc_row_id: ids[10] as number, t: 'small' }], 2));
    ok(
      await table.upsert(
        ids.slice(0, 2000).map((id, i) => ({ __svc_row_id: id, n: -i })),
        3,
      ),
    );
    ok(await table.upsert([{ __svc_row_id: ids[11] as number, t: 'after' }], 4));
    const page = await table.read({ limit: 10000 });
    expect(page.rows.length).toBe(5000);
    expect(page.rows[10]).toEqual({ n: -10, t: 'small', __svc_row_id: ids[10] });
    expect(page.rows[11]).toEqual({ n: -11, t: 'after', __svc_row_id: ids[11] });
    expect(page.rows[4999]).toEqual({ n: 4999, t: 'text 4999, "q" \\N', __svc_row_id: ids[4999] });
    expect((await table.read({ limit: 1, at_version: 3, offset: 10 })).rows[0]).toEqual({ n: 10, t: 'small', __svc_row_id: ids[10] });
    expect((await table.read({ limit: 2, sort: ['n:desc'] })).rows.map((row) => row.n)).toEqual([4999, 4998]);
  });
});

it('an edit that is sent twice at once with one key is never in conflict with itself', async () => {
  const table = await makeTable('twins', [{ name: 'a' }]);
  const path = `/api/v1/workbooks/${workbookId}/tables/twins`;
  const send = (method: string, address: string, key: string, body?: unknown) =>
    api.fetch(address, {
      method,
      token: owner.session,
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const outcomes = async (request: () => Promise<Response>) => {
    const answers = await Promise.all(Array.from({ length: 12 }, request));
    return new Set(await Promise.all(answers.map(async (each) => (each.ok ? 'done' : ((await each.json()) as { type: string }).type))));
  };
  const others = (found: Set<string>) => [...found].filter((each) => each !== 'done' && each !== 'urn:svc:problem:idempotency-in-progress');
  for (let version = 1; version <= 5; version += 1) {
    const found = await outcomes(() => send('POST', `${path}/rows`, `twin ${version}`, { expected_version: version, rows: [{ a: 'x' }] }));
    expect(others(found)).toEqual([]);
    expect((await table.read()).edit_version).toBe(version + 1);
  }
  const found = await outcomes(() => send('DELETE', `${path}?expected_version=6`, 'twin gone'));
  expect(others(found)).toEqual([]);
});
