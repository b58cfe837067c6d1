import { describe, expect, it } from 'vitest';
import type { components } from '../../schema/contract.ts';
import { listSources } from '../../store/pg/sources.ts';
import { ok, refused } from '../setup/api.ts';
import { editRows, makeTable } from '../setup/tables.ts';
import { bare, type Cell, makeXlsx, type UploadAnswer, useWorld } from './world.ts';

type Schemas = components['schemas'];

const world = await useWorld();

const root = '/api/v1/workbooks/{workbook_id}/sources/{source_name}';

/** A workbook with one staged source. */
async function stage(sheets: Record<string, Cell[][]>, spoil = (bytes: Uint8Array) => bytes) {
  const filename = '在庫.xlsx';
  const bytes = spoil(await makeXlsx(sheets));
  const workbookId = await world.newWorkbook();
  const { client } = world.owner;
  const params = { path: { workbook_id: workbookId, source_name: filename } };
  const response = await world.send(filename, bytes, { workbookId, fields: { mode: 'staged' } });
  expect(response.status).toBe(201);
  return {
    workbookId,
    bytes,
    registered: (await response.json()) as UploadAnswer,
    analyze: () => client.POST(`${root}/analyze`, { params }),
    getSpec: () => client.GET(`${root}/parse-spec`, { params }),
    putSpec: (body: Schemas['ParseSpec']) => client.PUT(`${root}/parse-spec`, { params, body }),
    materialize: (body?: Schemas['MaterializeRequest']) => client.POST(`${root}/materialize`, { params, ...(body && { body }) }),
    getSource: () => world.getSource(filename, workbookId),
  };
}

/** A table to append to. */
async function createTable(workbookId: string, columns: { name: string; type: string }[]) {
  await makeTable(world.owner.client, workbookId, '台帳', columns);
  return (await editRows(world.owner.client, workbookId, '台帳', [{ [columns[0]?.name ?? '']: '前から' }])).edit_version;
}

const withTitle = { 一覧: [['在庫一覧'], [], ...bare(3)] };

describe('analyzeSource, putParseSpec and materializeSource: a staged source', () => {
  it('is its bytes alone at first', async () => {
    const { registered, getSpec, materialize, getSource, workbookId } = await stage(withTitle);
    expect(registered).toMatchObject({
      structuring: 'off',
      credits_charged: 0,
      artifacts: [],
      source: { mode: 'staged', status: 'registered', parse_spec: null },
    });
    expect(await getSource()).toEqual(registered.source);
    refused(await getSpec(), 404, 'not-found');
    refused(await materialize(), 409, 'in-use');
    expect(await world.listNames('active', workbookId)).toEqual([]);
    expect(await world.readEvents(workbookId)).toEqual([]);
  });

  it('is listed as it is shown alone, without loading more of its spec than that', async () => {
    const { analyze, getSource, workbookId } = await stage(withTitle);
    const params = { path: { workbook_id: workbookId } };
    const list = async () => ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/sources', { params })).sources;
    expect(await list()).toEqual([await getSource()]);
    ok(await analyze());
    expect((await getSource()).parse_spec?.regions).toHaveLength(2);
    expect(await list()).toEqual([await getSource()]);
    const [loaded] = await listSources(world.api.services.db.orm, { workbookId, limit: 1 });
    const shown = ['confidence', 'id', 'kind', 'name', 'range', 'selected', 'sheet'];
    expect(loaded?.spec?.regions.map((region) => Object.keys(region).sort())).toEqual([shown, shown]);
    expect(loaded).not.toHaveProperty('extents');
  });

  it('is analyzed, as often as wanted; corrections go with the spec before', async () => {
    const { analyze, getSpec, putSpec, getSource, workbookId } = await stage(withTitle);
    const proposed = ok(await analyze()) as Schemas['ParseSpec'];
    expect(proposed.version).toBe(1);
    expect(proposed.regions).toMatchObject([
      { sheet: '一覧', kind: 'title', range: 'A1', selected: false },
      { sheet: '一覧', kind: 'data', range: 'A3:C6', name: '在庫一覧', header_rows: [3], selected: true },
    ]);
    expect(ok(await getSpec())).toEqual(proposed);
    expect(await getSource()).toMatchObject({ status: 'analyzed', parse_spec: { version: 1 }, artifacts: [] });
    const renamed = rename(proposed, '棚卸');
    // What somebody changed is their decision; the title is as it was.
    const [title, { decisions: _, ...table }] = renamed.regions as [Schemas['ParseRegion'], Schemas['ParseRegion']];
    expect(ok(await putSpec(renamed))).toEqual({ ...renamed, version: 2, regions: [title, { ...table, confidence: null }] });
    const again = ok(await analyze()) as Schemas['ParseSpec'];
    expect(again).toEqual({ ...proposed, version: 3 });
    expect(ok(await getSpec())).toEqual(again);
    expect((await world.readEvents(workbookId)).map(({ type, data }) => [type, data.spec_version])).toEqual([
      ['source.analyzed', 1],
      ['source.analyzed', 3],
    ]);
    expect(await world.listNames('active', workbookId)).toEqual([]);
  });

  it('takes a correction only of the spec that stands', async () => {
    const { analyze, putSpec } = await stage(withTitle);
    refused(await putSpec({ version: 1, reader: { format: 'xlsx' }, regions: [] }), 404, 'not-found');
    const spec = ok(await analyze()) as Schemas['ParseSpec'];
    ok(await putSpec(spec));
    expect(refused(await putSpec(spec), 409, 'version-conflict')).toMatchObject({ current_version: 2 });
  });

  it('takes no correction that does not fit the file', async () => {
    const { analyze, putSpec, getSpec } = await stage(withTitle);
    const spec = ok(await analyze()) as Schemas['ParseSpec'];
    const change = (fields: Partial<Schemas['ParseRegion']>) => ({
      ...spec,
      regions: spec.regions.map((region) => (region.kind === 'data' ? { ...region, ...fields } : region)),
    });
    const pointersOf = async (body: Schemas['ParseSpec']) =>
      (refused(await putSpec(body), 422, 'validation-failed').errors as { pointer: string }[]).map(({ pointer }) => pointer);
    expect(await pointersOf(change({ sheet: 'ない' }))).toContain('/regions/1/sheet');
    expect(await pointersOf(change({ range: 'A3:Z900' }))).toContain('/regions/1/range');
    expect(await pointersOf(change({ header_rows: [900] }))).toContain('/regions/1/header_rows/0');
    expect(ok(await getSpec())).toEqual(spec);
  });

  it('makes tables of its data regions', async () => {
    const { analyze, materialize, getSource, workbookId } = await stage(withTitle);
    ok(await analyze());
    const credits = await world.readCredits();
    const made = ok(await materialize()) as Schemas['MaterializeResponse'];
    expect(made).toMatchObject({ edit_version: null, op_id: null, stale: [], source: { status: 'materialized', structuring: 'off' } });
    expect(made.artifacts).toMatchObject([
      { name: '在庫一覧', row_count: 3, schema: [{ name: '品番' }, { name: '品名' }, { name: '数量' }] },
    ]);
    expect(await world.readCells('在庫一覧', workbookId)).toHaveLength(3);
    expect(await world.listNames('archived', workbookId)).toEqual([]);
    expect((await getSource()).artifacts).toEqual(['在庫一覧']);
    expect((await world.readEvents(workbookId)).slice(1).map(({ type, data }) => [type, data.name])).toEqual([
      ['artifact.updated', '在庫一覧'],
      ['source.materialized', '在庫.xlsx'],
    ]);
    // Analyzing is not structuring: nothing is charged.
    expect(await world.readCredits()).toEqual(credits);
    const again = ok(await materialize()) as Schemas['MaterializeResponse'];
    expect(again.artifacts.map(({ name }) => name)).toEqual(['在庫一覧_2']);
  });

  it('makes what a correction says, and the next file of its layout in the account is read so', async () => {
    const stock = (title: string, count: number, names = ['棚番', '品名', '数量']): Record<string, Cell[][]> => ({
      一覧: [[title], [], names, ...bare(count).slice(1)],
    });
    const { analyze, putSpec, materialize, workbookId } = await stage(stock('4月の在庫', 3));
    const spec = ok(await analyze()) as Schemas['ParseSpec'];
    const body = rename(spec, '棚卸');
    for (const region of body.regions)
      for (const column of region.columns) if (column.name === '数量') Object.assign(column, { name: '個数', type: 'VARCHAR' });
    ok(await putSpec(body));
    ok(await materialize());
    expect((await world.readCells('棚卸', workbookId))[1]).toEqual({ 棚番: 'P0002', 品名: '品 2', 個数: '3' });

    const next = await world.newWorkbook();
    const { source, notice } = await world.upload('5月分.xlsx', await makeXlsx(stock('5月の在庫', 5)), { workbookId: next });
    expect(source).toMatchObject({ structuring: 'structured', parse_spec: { learned: [{ sheet: '一覧' }] } });
    expect(notice).toContain('was corrected before');
    expect(await world.readCells('棚卸', next)).toHaveLength(5);
    expect((await world.readCells('棚卸', next))[4]).toEqual({ 棚番: 'P0005', 品名: '品 5', 個数: '12' });
    const staged = await stage(stock('6月の在庫', 2));
    const proposed = ok(await staged.analyze()) as Schemas['ParseSpec'];
    expect(proposed).toMatchObject({ learned: [{ sheet: '一覧' }], regions: [{ kind: 'title' }, { name: '棚卸', range: 'A3:C5' }] });

    const other = await world.newWorkbook();
    const differs = await world.upload('別.xlsx', await makeXlsx(stock('7月の在庫', 3, ['棚番', '名称', '数量'])), { workbookId: other });
    expect(differs.source.parse_spec).not.toHaveProperty('learned');
    const stranger = await world.api.signUp('他人');
    const theirs = ok(await stranger.client.POST('/api/v1/workbooks', { body: { title: '他人' } })).id;
    const sent = await world.upload('5月分.xlsx', await makeXlsx(stock('5月の在庫', 5)), { workbookId: theirs, token: stranger.session });
    expect(sent.source.parse_spec).not.toHaveProperty('learned');
    expect(sent.artifacts.map(({ name }) => name)).not.toContain('棚卸');
  });

  it('refuses a type that a value cannot have, and names the cell', async () => {
    const { analyze, putSpec, materialize, getSource, workbookId } = await stage(withTitle);
    const spec = ok(await analyze()) as Schemas['ParseSpec'];
    for (const region of spec.regions) for (const column of region.columns) if (column.name === '品名') column.type = 'BIGINT';
    ok(await putSpec(spec));
    const problem = refused(await materialize(), 400, 'uncastable-value');
    expect(problem.detail).toContain('B4');
    expect(await world.listNames('active', workbookId)).toEqual([]);
    expect((await getSource()).status).toBe('analyzed');
  });

  it('makes tables of chosen regions', async () => {
    const { analyze, materialize, workbookId } = await stage({ 東京: bare(2), 大阪: bare(3) });
    const spec = ok(await analyze()) as Schemas['ParseSpec'];
    const osaka = spec.regions.find(({ sheet }) => sheet === '大阪')?.id as string;
    const made = ok(await materialize({ regions: [osaka] })) as Schemas['MaterializeResponse'];
    expect(made.artifacts).toMatchObject([{ row_count: 3 }]);
    expect(await world.listNames('active', workbookId)).toHaveLength(1);
    const problem = refused(await materialize({ regions: ['ない'] }), 422, 'validation-failed');
    expect(problem.errors).toMatchObject([{ pointer: '/regions/0' }]);
  });

  it('that is being worked on is left alone', async () => {
    const { analyze, materialize, putSpec, workbookId, bytes } = await stage(withTitle);
    const spec = ok(await analyze()) as Schemas['ParseSpec'];
    await world.stopWorker();
    const running = materialize();
    await expect.poll(async () => (await world.getSource('在庫.xlsx', workbookId)).status).toBe('ingesting');
    refused(await analyze(), 409, 'in-use');
    refused(await materialize(), 409, 'in-use');
    refused(await putSpec(spec), 409, 'in-use');
    const upload = await world.send('在庫.xlsx', bytes, { workbookId });
    expect([upload.status, ((await upload.json()) as { type: string }).type]).toEqual([409, 'urn:svc:problem:in-use']);
    const revise = await world.send('在庫.xlsx', await makeXlsx({ S: bare(9) }), {
      path: `/api/v1/workbooks/${workbookId}/sources/${encodeURIComponent('在庫.xlsx')}/revise`,
    });
    expect(revise.status).toBe(409);
    await world.startWorker();
    ok(await running);
  });

  it('that cannot be analyzed says why', async () => {
    const { analyze, getSource } = await stage(withTitle, (bytes) => {
      const spoilt = Buffer.from(bytes);
      return spoilt.fill(0xff, spoilt.indexOf('xl/worksheets/sheet1.xml') + 24, spoilt.indexOf('xl/worksheets/sheet1.xml') + 60);
    });
    const problem = refused(await analyze(), 422, 'validation-failed');
    expect(await getSource()).toMatchObject({ status: 'failed', error: problem.detail, parse_spec: null });
  });

  it('in which there is nothing has nothing to make', async () => {
    const { analyze, materialize } = await stage({ S: [] });
    expect(ok(await analyze())).toMatchObject({ version: 1, regions: [] });
    refused(await materialize(), 422, 'validation-failed');
  });
});

describe('materializeSource: append', () => {
  const columns = [
    { name: 'コード', type: 'VARCHAR' },
    { name: '品名', type: 'VARCHAR' },
    { name: '個数', type: 'BIGINT' },
  ];
  const mapping = { 品番: 'コード', 数量: '個数' };

  it('adds rows by name and by mapping, as one edit', async () => {
    const { analyze, materialize, workbookId, getSource } = await stage(withTitle);
    ok(await analyze());
    const version = await createTable(workbookId, columns);
    const made = ok(
      await materialize({ target: { mode: 'append', table: '台帳', expected_version: version }, column_mapping: mapping }),
    ) as Schemas['MaterializeResponse'];
    expect(made).toMatchObject({ edit_version: version + 1, stale: [], artifacts: [{ name: '台帳', row_count: 4 }] });
    expect(await world.readRows('台帳', workbookId)).toEqual([
      { __svc_row_id: 1, コード: '前から', 品名: null, 個数: null },
      { __svc_row_id: 2, コード: 'P0001', 品名: '品 1', 個数: 0 },
      { __svc_row_id: 3, コード: 'P0002', 品名: '品 2', 個数: 3 },
      { __svc_row_id: 4, コード: 'P0003', 品名: '品 3', 個数: 6 },
    ]);
    expect(await getSource()).toMatchObject({ status: 'materialized', artifacts: ['台帳'] });
    const undo = { params: { path: { workbook_id: workbookId, op_id: made.op_id as number } } };
    ok(await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/ops/{op_id}/undo', undo));
    expect(await world.readRows('台帳', workbookId)).toHaveLength(1);
  });

  it('wants the version that stands', async () => {
    const { analyze, materialize, workbookId } = await stage(withTitle);
    ok(await analyze());
    const version = await createTable(workbookId, columns);
    const target = { mode: 'append' as const, table: '台帳', expected_version: version - 1 };
    expect(refused(await materialize({ target, column_mapping: mapping }), 409, 'version-conflict')).toMatchObject({
      current_version: version,
    });
    ok(await materialize({ target: { ...target, expected_version: null }, column_mapping: mapping }));
  });

  it('names the cell that does not fit', async () => {
    const { analyze, materialize, workbookId } = await stage(withTitle);
    ok(await analyze());
    const version = await createTable(workbookId, columns);
    const target = { mode: 'append' as const, table: '台帳', expected_version: version };
    const problem = refused(
      await materialize({ target, column_mapping: { 品番: 'コード', 品名: '個数', 数量: '品名' } }),
      422,
      'validation-failed',
    );
    expect(problem.detail).toContain('一覧 B4');
    expect(problem.errors).toEqual([{ pointer: '/column_mapping/個数', detail: expect.stringContaining('一覧 B4') }]);
    expect(await world.readRows('台帳', workbookId)).toHaveLength(1);
  });

  it('knows its tables and columns', async () => {
    const { analyze, materialize, workbookId } = await stage(withTitle);
    ok(await analyze());
    const version = await createTable(workbookId, columns);
    const target = { mode: 'append' as const, table: '台帳', expected_version: version };
    refused(await materialize({ target: { ...target, table: 'ない' } }), 404, 'not-found');
    const pointersOf = async (column_mapping: Record<string, string>) =>
      (refused(await materialize({ target, column_mapping }), 422, 'validation-failed').errors as { pointer: string }[]).map(
        ({ pointer }) => pointer,
      );
    expect(await pointersOf({})).toEqual(['/column_mapping/品番', '/column_mapping/数量']);
    expect(await pointersOf({ ...mapping, ない: '品名' })).toEqual(['/column_mapping/ない']);
    expect(await pointersOf({ 品番: '品名', 数量: '個数' })).toEqual(['/column_mapping/品名']);
    expect(await world.readRows('台帳', workbookId)).toHaveLength(1);
  });

  it('needs a table and a version', async () => {
    const { analyze, materialize } = await stage(withTitle);
    ok(await analyze());
    refused(await materialize({ target: { mode: 'append' } as never }), 422, 'validation-failed');
  });

  it('takes many rows', async () => {
    const { analyze, materialize, workbookId } = await stage({ S: bare(12_000) });
    ok(await analyze());
    await createTable(workbookId, columns);
    ok(await materialize({ target: { mode: 'append', table: '台帳', expected_version: null }, column_mapping: mapping }));
    expect(await world.query('SELECT count(*)::INT AS n, max(個数)::INT AS most FROM 台帳', workbookId)).toEqual([
      { n: 12_001, most: 35_997 },
    ]);
  });

  it('answers a repeated request like the first, though the version has moved by it', async () => {
    const { analyze, workbookId } = await stage(withTitle);
    ok(await analyze());
    const version = await createTable(workbookId, columns);
    const ask = () =>
      world.api.fetch(`/api/v1/workbooks/${workbookId}/sources/${encodeURIComponent('在庫.xlsx')}/materialize`, {
        method: 'POST',
        token: world.owner.session,
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'append-1' },
        body: JSON.stringify({ target: { mode: 'append', table: '台帳', expected_version: version }, column_mapping: mapping }),
      });
    const first = await (await ask()).text();
    // As after a crash between the effect and its answer: the job is known, its answer is not.
    const forget = `UPDATE idempotency SET job_id = (SELECT id FROM jobs WHERE workbook_id = $1 AND kind = 'materialize'), body = NULL, status = 202
                    WHERE key_hash = (SELECT key_hash FROM idempotency ORDER BY expires_at DESC LIMIT 1)`;
    await world.api.sql.query(forget, [workbookId]);
    const second = await ask();
    expect([second.status, await second.text()]).toEqual([200, first]);
    expect(await world.readRows('台帳', workbookId)).toHaveLength(4);
  });
});

function rename(spec: Schemas['ParseSpec'], name: string): Schemas['ParseSpec'] {
  return { ...spec, regions: spec.regions.map((region) => (region.kind === 'data' ? { ...region, name } : region)) };
}
