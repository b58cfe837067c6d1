import { afterAll, describe, expect, it } from 'vitest';
import { ok } from '../setup/api.ts';
import { mintToken } from '../setup/credentials.ts';
import { useWorkbook } from '../tables/tableDriver.ts';
import { connect } from './client.ts';

const { api, world } = await useWorkbook();
const workbook_id = world.workbookId;
const { text: token } = await mintToken(world.owner.client, { scopes: ['workbooks:read', 'workbooks:write'] });
const agent = await connect(api.url, token);
afterAll(() => agent.client.close());

const sales = await world.makeTable('売上', [
  { name: '部門', type: 'VARCHAR' },
  { name: '金額', type: 'DECIMAL(38,2)' },
  { name: '番号', type: 'BIGINT' },
]);
ok(await sales.upsert(Array.from({ length: 120 }, (_, i) => ({ 部門: `部門${i % 3}`, 金額: i, 番号: i }))));

interface Rows {
  rows: Record<string, unknown>[];
  row_count: number;
  edit_version: number;
  next_cursor: string | null;
}

describe('the tools', () => {
  it('say what they do, what they take and what they answer', async () => {
    const { tools } = await agent.client.listTools();
    expect(tools.length).toBeGreaterThan(15);
    for (const { name, title, description, inputSchema, outputSchema, annotations } of tools) {
      expect([name, !!title, (description?.length ?? 0) > 20, inputSchema.additionalProperties]).toEqual([name, true, true, false]);
      expect([name, outputSchema !== undefined]).toEqual([name, name !== 'draw_chart']);
      expect([name, Object.keys(annotations ?? {}).sort()]).toEqual([
        name,
        ['destructiveHint', 'idempotentHint', 'openWorldHint', 'readOnlyHint', 'title'],
      ]);
    }
    const writing = tools.filter(({ annotations }) => !annotations?.readOnlyHint).map(({ name }) => name);
    expect(writing.sort()).toEqual([
      'create_chart',
      'create_workbook',
      'delete_chart',
      'delete_rows',
      'edit_rows',
      'review_workbook',
      'upload_file',
    ]);
    expect(agent.client.getInstructions()).toContain('list_workbooks');
    expect(agent.client.getServerVersion()).toMatchObject({ name: 'workbook-data-service' });
    // Every agent reads all of it before it does anything.
    expect(JSON.stringify(tools).length).toBeLessThan(30_000);
  });

  it('find workbooks, tables and columns', async () => {
    const { workbooks } = await agent.call<{ workbooks: { id: string; title: string }[] }>('list_workbooks');
    expect(workbooks).toMatchObject([{ id: workbook_id, title: '決算' }]);
    expect(await agent.call('list_tables', { workbook_id })).toMatchObject({
      tables: [{ name: '売上', row_count: 120 }],
      next_cursor: null,
    });
    const schema = await agent.call('get_schema', { workbook_id, table: '売上' });
    expect(schema).toMatchObject({
      row_count: 120,
      columns: [{ name: '部門', type: 'VARCHAR' }, { name: '金額' }, { name: '番号' }, { name: '__svc_row_id' }],
    });
    expect(await agent.call('profile_table', { workbook_id, table: '売上' })).toMatchObject({
      columns: [{ name: '部門', distinct: 3 }, {}, {}],
    });
    expect(await agent.call('get_lineage', { workbook_id, table: '売上' })).toMatchObject({ name: '売上', nodes: [{ name: '売上' }] });
    expect((await agent.call<{ results: unknown[] }>('search', { query: '売上' })).results.length).toBeGreaterThan(0);
  });

  it('read rows page by page, every row once', async () => {
    const seen: unknown[] = [];
    let cursor: string | null = null;
    do {
      const page: Rows = await agent.call<Rows>('read_rows', { workbook_id, table: '売上', limit: 50, ...(cursor ? { cursor } : {}) });
      seen.push(...page.rows.map((row) => row.__svc_row_id));
      cursor = page.next_cursor;
    } while (cursor);
    expect(seen).toEqual(Array.from({ length: 120 }, (_, i) => i + 1));
    const filtered = await agent.call<Rows>('read_rows', {
      workbook_id,
      table: '売上',
      columns: ['番号'],
      filter: '番号 >= 117',
      sort: ['番号:desc'],
    });
    expect(filtered.rows.map((row) => row.番号)).toEqual([119, 118, 117]);
  });

  it('give short pages of long rows', async () => {
    const long = await world.makeTable('長文', [{ name: '文', type: 'VARCHAR' }]);
    ok(await long.upsert(Array.from({ length: 60 }, () => ({ 文: 'あ'.repeat(2000) }))));
    const page = await agent.call<Rows>('read_rows', { workbook_id, table: '長文' });
    expect([page.rows.length > 1, page.rows.length < 50, page.next_cursor !== null]).toEqual([true, true, true]);
    const result = await agent.call<Rows>('query', { workbook_id, sql: 'SELECT * FROM 長文' });
    expect([result.rows.length < 50, result.row_count]).toEqual([true, 60]);
    const rest = await agent.call<Rows>('read_result', { cursor: result.next_cursor });
    expect(rest.rows.length).toBeGreaterThan(0);
  });

  it('query, and read on in the result', async () => {
    const sum = await agent.call<Rows>('query', {
      workbook_id,
      sql: 'SELECT 部門, sum(番号) AS 計 FROM 売上 WHERE 番号 < $1 GROUP BY ALL ORDER BY 1',
      params: [3],
    });
    expect(sum).toMatchObject({ rows: [{ 部門: '部門0' }, { 部門: '部門1' }, { 部門: '部門2' }], row_count: 3, next_cursor: null });
    const first = await agent.call<Rows>('query', { workbook_id, sql: 'SELECT 番号 FROM 売上 ORDER BY 1', limit: 100 });
    const second = await agent.call<Rows>('read_result', { cursor: first.next_cursor });
    expect([...first.rows, ...second.rows].map((row) => row.番号)).toEqual(Array.from({ length: 120 }, (_, i) => i));
    expect(second.next_cursor).toBeNull();
  });

  it('edit and delete rows under the version that was read, keeping every digit', async () => {
    const table = '売上';
    const { edit_version } = await agent.call<Rows>('read_rows', { workbook_id, table, limit: 1 });
    const edited = await agent.call<{ edit_version: number; row_ids: number[] }>('edit_rows', {
      workbook_id,
      table,
      expected_version: edit_version,
      rows: [
        { __svc_row_id: 1, 金額: '123456789012345678.25' },
        { 部門: '新', 金額: 1, 番号: '9007199254740993' },
      ],
    });
    expect(edited).toMatchObject({ edit_version: edit_version + 1, inserted: 1, updated: 1, stale: [] });
    const after = await agent.call<Rows>('read_rows', { workbook_id, table, filter: "__svc_row_id = 1 OR 部門 = '新'" });
    expect(after.rows).toMatchObject([{ 金額: '123456789012345678.25' }, { 番号: '9007199254740993' }]);
    const conflict = await agent.refusal('edit_rows', { workbook_id, table, expected_version: edit_version, rows: [{ 部門: '後' }] });
    expect(conflict).toContain('409 version-conflict');
    expect(conflict).toContain(`current_version: ${edit_version + 1}`);
    const deleted = { workbook_id, table, expected_version: edit_version + 1, row_ids: edited.row_ids.slice(-1) };
    expect(await agent.call('delete_rows', deleted)).toMatchObject({ deleted: 1, edit_version: edit_version + 2 });
  });

  it('refuse numbers that would lose digits', async () => {
    const call = async (name: string, given: string) => {
      const headers = { 'Content-Type': 'application/json', Accept: 'application/json', 'Mcp-Session-Id': agent.transport.sessionId ?? '' };
      const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${given}}}`;
      const answer = await api.fetch('/mcp', { method: 'POST', token, headers, body });
      return ((await answer.json()) as { result: { content: { text: string }[]; structuredContent?: { rows: object[] } } }).result;
    };
    const edit = (row: string) =>
      call('edit_rows', `{"workbook_id":"${workbook_id}","table":"売上","expected_version":null,"rows":[${row}]}`);
    expect((await edit('{"番号":9007199254740993}')).content[0]?.text).toContain('send it as a string');
  });

  it('repeat nothing that was done under the same key', async () => {
    const given = { workbook_id, table: '売上', expected_version: null, rows: [{ 部門: '一度' }], idempotency_key: 'once and no more' };
    const [first, second] = [await agent.call('edit_rows', given), await agent.call('edit_rows', given)];
    expect(second).toEqual(first);
    const { row_count } = await agent.call<Rows>('read_rows', { workbook_id, table: '売上', filter: "部門 = '一度'" });
    expect(row_count).toBe(1);
  });

  it('open slots for files', async () => {
    const slot = await agent.call<{ upload_url: string; upload_id: string }>('upload_file', { workbook_id, filename: '経費.csv' });
    expect(slot).toMatchObject({ upload_url: expect.stringContaining('/api/v1/uploads/'), next_step: expect.stringContaining('PUT') });
    expect(await agent.call('get_upload', { upload_id: slot.upload_id })).toMatchObject({ status: 'pending' });
    expect(await agent.refusal('upload_file', { workbook_id })).toContain('/filename');
  });

  it('make, draw and delete charts', async () => {
    const config = { mark: 'bar', encoding: { x: { field: '部門', type: 'nominal' }, y: { aggregate: 'count' } } };
    const made = await agent.call('create_chart', { workbook_id, name: '部門の図', table: '売上', config, title: '部門' });
    expect(made).toMatchObject({ chart: { name: '部門の図', chart_type: 'bar', title: '部門', config }, created: true, warnings: [] });
    expect(await agent.call('list_charts', { workbook_id })).toMatchObject({ charts: [{ name: '部門の図' }] });
    const { content } = await agent.client.callTool({ name: 'draw_chart', arguments: { workbook_id, name: '部門の図' } });
    const [picture] = content as { type: string; mimeType: string; data: string }[];
    expect([
      picture?.type,
      picture?.mimeType,
      Buffer.from(picture?.data ?? '', 'base64')
        .subarray(1, 4)
        .toString(),
    ]).toEqual(['image', 'image/png', 'PNG']);
    const bad = await agent.refusal('create_chart', {
      workbook_id,
      name: '悪い図',
      table: '売上',
      config: { ...config, data: { url: 'http://x' } },
    });
    expect(bad).toContain('/config/data');
    expect(await agent.call('delete_chart', { workbook_id, name: '部門の図' })).toEqual({ deleted: '部門の図' });
    expect(await agent.refusal('delete_chart', { workbook_id, name: '部門の図' })).toContain('404 not-found');
  });

  it('tell what is wrong with arguments, and what to do', async () => {
    expect(await agent.refusal('read_rows', { workbook_id, tabel: '売上' })).toMatch(
      /\/table: is required[\s\S]*\/tabel: is not an argument[\s\S]*What to do: /,
    );
    expect(await agent.refusal('read_rows', { workbook_id, table: '売上高' })).toContain('Did you mean 売上');
    expect(await agent.refusal('query', { workbook_id, sql: 'DROP TABLE 売上' })).toContain('query-refused');
    expect(await agent.refusal('read_rows', { workbook_id, table: '売上', cursor: 'x' })).toContain('/cursor');
    expect(await agent.refusal('get_schema', { workbook_id, table: '売上', cursor: 'x' })).toContain('/cursor');
    expect(await agent.refusal('read_result', { cursor: 'x' })).toContain('/cursor');
    await expect(agent.client.callTool({ name: 'format_disk', arguments: {} })).rejects.toThrow('There is no tool format_disk');
  });
});

describe('tables are resources', () => {
  it('are listed and read, with templates for their addresses', async () => {
    const { resources } = await agent.client.listResources();
    const uri = `workbook://${workbook_id}/tables/${encodeURIComponent('売上')}`;
    expect(resources).toContainEqual(expect.objectContaining({ uri, name: '売上', mimeType: 'application/json' }));
    const { resourceTemplates } = await agent.client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain('workbook://{workbook_id}/tables/{table}');
    const read = async (address: string) =>
      JSON.parse(((await agent.client.readResource({ uri: address })).contents[0] as { text: string }).text) as Rows;
    expect((await read(uri)).rows).toHaveLength(100);
    expect(await read(`${uri}/schema`)).toMatchObject({ name: '売上', columns: [{ name: '部門' }, {}, {}, {}] });
    await expect(read(`workbook://${workbook_id}/tables/none`)).rejects.toThrow('not-found');
    await expect(read('file:///etc/passwd')).rejects.toThrow('is not the address of a table');
  });
});

describe('a token', () => {
  it('may do with tools what it may do with requests', async () => {
    const { text: reading } = await mintToken(world.owner.client, { scopes: ['workbooks:read'] });
    const reader = await connect(api.url, reading);
    const edit = { workbook_id, table: '売上', expected_version: null, rows: [{ 部門: 'x' }] };
    for (const [name, given] of Object.entries({
      edit_rows: edit,
      delete_rows: { workbook_id, table: '売上', expected_version: null, row_ids: [1] },
      create_workbook: { title: 'x' },
      upload_file: { workbook_id, filename: 'x.csv' },
      create_chart: { workbook_id, name: 'x', table: '売上', config: { mark: 'bar' } },
      delete_chart: { workbook_id, name: 'x' },
    }))
      expect([name, await reader.refusal(name, given)]).toEqual([name, expect.stringContaining('403 missing-scope')]);
    expect((await reader.call<Rows>('read_rows', { workbook_id, table: '売上', limit: 1 })).rows).toHaveLength(1);

    const other = ok(await world.owner.client.POST('/api/v1/workbooks', { body: { title: 'other' } })).id;
    const { text: pinned } = await mintToken(world.owner.client, {
      scopes: ['workbooks:read', 'workbooks:write'],
      resource: `workbook:${other}`,
    } as never);
    const narrow = await connect(api.url, pinned);
    expect(await narrow.refusal('read_rows', { workbook_id, table: '売上' })).toContain('403 outside-reach');
    expect(await narrow.refusal('create_chart', { workbook_id, name: 'x', table: '売上', config: { mark: 'bar' } })).toContain(
      '403 outside-reach',
    );
    expect(await narrow.refusal('delete_chart', { workbook_id, name: 'x' })).toContain('403 outside-reach');
    expect((await narrow.client.listResources()).resources).toEqual([]);

    const stranger = await api.signUp();
    const foreign = await connect(api.url, stranger.session);
    expect(await foreign.refusal('read_rows', { workbook_id, table: '売上' })).toContain('404 not-found');
    expect(await foreign.refusal('create_chart', { workbook_id, name: 'x', table: '売上', config: { mark: 'bar' } })).toContain(
      '404 not-found',
    );
    for (const { client } of [reader, narrow, foreign]) await client.close();
  });

  it('must be a good one', async () => {
    await expect(connect(api.url, 'svc_pat_nothing')).rejects.toThrow(/401|Unauthorized/);
  });
});
