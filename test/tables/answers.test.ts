import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok, type Person, startTestApi, type TestApi } from '../setup/api.ts';
import { makeWorkbook, makeWorkspace } from '../setup/credentials.ts';
import { makeTable } from '../setup/tables.ts';

let api: TestApi;
let owner: Person;
let member: Person;
let workbookId: string;

beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  [owner, member] = [await api.signUp(), await api.signUp()];
  const team = await makeWorkspace(owner.client, 'Team');
  ok(
    await owner.client.POST('/api/control/workspaces/{workspace_id}/users', {
      params: { path: { workspace_id: team } },
      body: { email: member.email, role: 'viewer' },
    }),
  );
  workbookId = await makeWorkbook(owner.client, '決算', team);
  const columns = [{ name: '店' }, { name: '給与', type: 'BIGINT' }];
  for (const name of ['売上', '別表'])
    await makeTable(owner.client, workbookId, name, columns, [
      { 店: '東京', 給与: 100 },
      { 店: '大阪', 給与: 200 },
    ]);
});
afterAll(() => api.stop());

interface Asked {
  format?: string;
  params?: unknown;
  at?: string;
  limit?: number;
}

async function ask(sql: string, more: Asked = {}, who: Pick<Person, 'session'> = owner) {
  const answer = await api.fetch(`/api/v1/workbooks/${workbookId}/query`, {
    method: 'POST',
    token: who.session,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sql, ...more }),
  });
  expect(answer.status).toBe(200);
  return { cache: answer.headers.get('x-svc-result-cache'), id: answer.headers.get('x-svc-result-id'), answer };
}

const edit = (name: string, rowId: number, value: number) =>
  owner.client.POST('/api/v1/workbooks/{workbook_id}/tables/{name}/rows', {
    params: { path: { workbook_id: workbookId, name } },
    body: { expected_version: null, rows: [{ __svc_row_id: rowId, 給与: value }] } as never,
  });

describe('runQuery, asked again', () => {
  it('answers with the kept result, which has its own id and time of expiry', async () => {
    const sql = 'SELECT 店, 給与 FROM 売上 ORDER BY 給与';
    const [first, second] = [await ask(sql), await ask(sql)];
    expect([first.cache, second.cache]).toEqual(['miss', 'hit']);
    const bodies = [await first.answer.json(), await second.answer.json()];
    expect(bodies[1]).toEqual(bodies[0]);
    expect(bodies[0]).toMatchObject({
      id: first.id,
      rows: [
        { 店: '東京', 給与: 100 },
        { 店: '大阪', 給与: 200 },
      ],
    });
    expect(await (await ask(sql, { limit: 1 })).answer.json()).toMatchObject({
      id: first.id,
      next_offset: 1,
      rows: [{ 店: '東京', 給与: 100 }],
    });
  });

  it('does so in every format', async () => {
    const sql = 'SELECT 店, 給与 FROM 売上 ORDER BY 給与 DESC';
    const { id } = await ask(sql);
    const lines = await ask(sql, { format: 'ndjson' });
    expect([lines.cache, lines.id, await lines.answer.text()]).toEqual(['hit', id, '{"店":"大阪","給与":200}\n{"店":"東京","給与":100}\n']);
    const arrow = await ask(sql, { format: 'arrow' });
    expect([arrow.cache, arrow.id]).toEqual(['hit', id]);
    expect([...(tableFromIPC(new Uint8Array(await arrow.answer.arrayBuffer())).getChild('給与') ?? [])]).toEqual([200n, 100n]);
    const csv = await api.fetch(`/api/v1/results/${id}?format=csv`, { token: owner.session });
    expect((await csv.text()).trim().split(/\r?\n/)).toEqual(['店,給与', '大阪,200', '東京,100']);
  });

  it('answers from a result that is a file, too', async () => {
    const sql = "SELECT range AS i, repeat('x', 100) AS x, 店 FROM range(10000), 売上";
    const [first, second] = [await ask(sql, { limit: 2 }), await ask(sql, { limit: 2 })];
    expect([first.cache, second.cache, second.id]).toEqual(['miss', 'hit', first.id]);
    expect(await second.answer.json()).toEqual(await first.answer.json());
  });

  it('runs the query when anything that decides the answer is another', async () => {
    const sql = 'SELECT sum(給与) AS n FROM 売上';
    expect((await ask(sql)).cache).toBe('miss');
    expect((await ask(`${sql} WHERE 給与 > $1`, { params: [1] })).cache).toBe('miss');
    expect((await ask(`${sql} WHERE 給与 > $1`, { params: [1] })).cache).toBe('hit');
    expect((await ask(`${sql} WHERE 給与 > $1`, { params: [150] })).cache).toBe('miss');
    expect((await ask(`${sql} `)).cache).toBe('miss');
    await edit('別表', 1, 111);
    expect((await ask(sql)).cache).toBe('hit');
    await edit('売上', 1, 101);
    const after = await ask(sql);
    expect([after.cache, ((await after.answer.json()) as { rows: unknown }).rows]).toEqual(['miss', [{ n: 301 }]]);
    await edit('売上', 1, 100);
    const back = await ask(sql);
    expect([back.cache, ((await back.answer.json()) as { rows: unknown }).rows]).toEqual(['miss', [{ n: 300 }]]);
  });

  it.each([
    'now()',
    'current_timestamp',
    'CAST(random() * 1e9 AS BIGINT)',
    'uuid()',
    'gen_random_uuid()',
    'current_date',
    "age(TIMESTAMP '2020-01-01')",
    'today()',
    'get_current_time()',
  ])('never does so for %s', async (volatile) => {
    const sql = `SELECT CAST(${volatile} AS VARCHAR) AS v, count(*) AS n FROM 売上`;
    expect([(await ask(sql)).cache, (await ask(sql)).cache]).toEqual(['miss', 'miss']);
  });

  it('does not keep the answer beyond its time, nor when it had to go', async () => {
    const sql = 'SELECT max(給与) AS n FROM 売上';
    const { id } = await ask(sql);
    expect((await ask(sql)).id).toBe(id);
    await api.sql.query('UPDATE results SET expires_at = now(), content = NULL WHERE id = $1', [id]);
    const again = await ask(sql);
    expect(again.cache).toBe('miss');
    expect(again.id).not.toBe(id);
  });

  it('answers a version by its content, whatever came after', async () => {
    await owner.client.POST('/api/v1/workbooks/{workbook_id}/versions', {
      params: { path: { workbook_id: workbookId } },
      body: { label: '確定' } as never,
    });
    const sql = 'SELECT min(給与) AS n FROM 売上';
    const first = await ask(sql, { at: '確定' });
    await edit('売上', 1, 55);
    const second = await ask(sql, { at: '確定' });
    expect([first.cache, second.cache]).toEqual(['miss', 'hit']);
    expect(((await second.answer.json()) as { rows: unknown }).rows).toEqual([{ n: 100 }]);
    expect(((await (await ask(sql)).answer.json()) as { rows: unknown }).rows).toEqual([{ n: 55 }]);
  });

  it('holds for one user, and for what that user may see', async () => {
    const sql = 'SELECT 店, 給与 FROM 別表 ORDER BY 店';
    const pay = async (asked: Awaited<ReturnType<typeof ask>>) =>
      ((await asked.answer.json()) as { rows: { 給与: unknown }[] }).rows.map((row) => row.給与);
    const first = await ask(sql);
    const [theirs, again] = [await ask(sql, {}, member), await ask(sql, {}, member)];
    expect([theirs.cache, again.cache, again.id]).toEqual(['miss', 'hit', theirs.id]);
    expect(theirs.id).not.toBe(first.id);
    expect(await pay(again)).toEqual([200, 111]);
    const send = (method: string, path: string, body: unknown) =>
      api.fetch(`/api/v1/workbooks/${workbookId}/${path}`, {
        method,
        token: owner.session,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    expect(
      (await send('POST', `artifacts/${encodeURIComponent('別表')}/columns/${encodeURIComponent('給与')}/tags`, { tag: 'pay' })).ok,
    ).toBe(true);
    expect((await send('PUT', 'policies/pay', { effect: 'mask', role: 'viewer' })).ok).toBe(true);
    const masked = await ask(sql, {}, member);
    expect([masked.cache, await pay(masked)]).toEqual(['miss', [null, null]]);
    const kept = await ask(sql, {}, member);
    expect([kept.cache, await pay(kept)]).toEqual(['hit', [null, null]]);
    expect((await send('DELETE', 'policies/pay', undefined)).ok).toBe(true);
    const open = await ask(sql, {}, member);
    // The answer of before the rule is true again.
    expect([open.id, await pay(open)]).toEqual([theirs.id, [200, 111]]);
  });
});
