import { describe, expect, it } from 'vitest';
import { ok } from '../setup/api.ts';
import { makeTable } from '../setup/tables.ts';
import { withRevisions } from './revisions.ts';
import { bare, makeIncomeStatement, makeXlsx, namesOf, scattered, useWorld } from './world.ts';

const world = await useWorld();

const { send, revise, at, getTable, readAt, editRow, columnIds } = withRevisions(world);

describe('reviseSource', () => {
  it('give its tables the next version; rows that are found again keep their ids', async () => {
    const workbookId = await world.newWorkbook();
    const first = await world.upload('在庫.xlsx', await makeXlsx({ S: bare(3) }), { workbookId });
    const ids = await columnIds(workbookId, '在庫');
    const rows = bare(4).map((row, n) => [...row, n === 0 ? '備考' : `注 ${n}`]);
    const answer = await revise(workbookId, '在庫.xlsx', await makeXlsx({ S: rows }));
    expect(answer).toMatchObject({ structuring: 'structured', credits_charged: 1, source: { id: first.source.id, name: '在庫.xlsx' } });
    expect(answer.source.sha256).not.toBe(first.source.sha256);
    expect(answer.artifacts).toMatchObject([{ id: first.artifacts[0]?.id, name: '在庫', row_count: 4 }]);
    expect((await getTable(workbookId, '在庫')).edit_version).toBe(2);
    const now = await world.readRows('在庫', workbookId);
    expect(now.map(({ __svc_row_id: id }) => id)).toEqual([1, 2, 3, 4]);
    expect(now[3]).toMatchObject({ 品番: 'P0004', 数量: 9, 備考: '注 4' });
    expect((await readAt(workbookId, '在庫', 1)).map(({ __svc_row_id: id }) => id)).toEqual([1, 2, 3]);
    expect((await columnIds(workbookId, '在庫')).slice(0, 3)).toEqual(ids);
    expect(await world.listNames('archived', workbookId)).toEqual(['在庫_原本']);
    expect((await getTable(workbookId, '在庫_原本')).edit_version).toBe(2);
    expect(await world.readCells('在庫_原本', workbookId)).toHaveLength(5);
  });

  it('leave what was written down readable: diff, history, edits, undo', async () => {
    const workbookId = await world.newWorkbook();
    await world.upload('在庫.xlsx', await makeXlsx({ S: bare(2) }), { workbookId });
    await revise(workbookId, '在庫.xlsx', await makeXlsx({ S: bare(3) }));
    const { client } = world.owner;
    const path = at(workbookId, '在庫');
    const diff = ok(
      await client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/diff', { params: { path, query: { from: '1', to: '2' } } }),
    );
    expect([diff.inserted.length, diff.deleted.length]).toEqual([1, 0]);
    const edit = await editRow(workbookId, '在庫', { __svc_row_id: 3, 数量: 100 }, 2);
    expect(edit).toMatchObject({ edit_version: 3, updated: 1 });
    expect((await editRow(workbookId, '在庫', { 品番: '新' }, 3)).row_ids).toEqual([6]);
    const history = ok(
      await client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/rows/{row_id}/history', {
        params: { path: { ...path, row_id: 3 } },
      }),
    );
    expect(history.changes[0]).toMatchObject({ op_id: edit.op_id });
    ok(
      await client.POST('/api/v1/workbooks/{workbook_id}/ops/{op_id}/undo', {
        params: { path: { workbook_id: workbookId, op_id: edit.op_id } },
      }),
    );
    expect((await world.readRows('在庫', workbookId))[2]).toMatchObject({ __svc_row_id: 3, 数量: 6 });
    const ops = ok(await client.GET('/api/v1/workbooks/{workbook_id}/ops', { params: { path: { workbook_id: workbookId } } })).ops;
    expect(ops.map(({ kind }) => kind)).toContain('source.revise');
    expect((await world.readEvents(workbookId)).filter(({ type }) => type === 'source.materialized')).toHaveLength(2);
  });

  it('whose rows were inserted, moved, changed and deleted: the same rows have the same ids, and came from where they stand now', async () => {
    const workbookId = await world.newWorkbook();
    const header = ['品名', '備考', '数量'];
    // No column tells the rows apart.
    const row = (name: string, note: string, n: number) => [name, note, n];
    const [a, b, c, d] = [row('釘', '箱', 1), row('釘', '袋', 2), row('ねじ', '箱', 3), row('ねじ', '箱', 4)];
    await world.upload('在庫.xlsx', await makeXlsx({ S: [header, a, b, c, d] }), { workbookId });
    const kept = ok(
      await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/snapshots', {
        params: { path: { workbook_id: workbookId } },
        body: { summary: '前' },
      }),
    );
    await revise(workbookId, '在庫.xlsx', await makeXlsx({ S: [header, d, row('板', '枚', 9), a, row('ねじ', '箱', 30)] }));
    const found = await world.readRows('在庫', workbookId);
    expect(found.map(({ __svc_row_id: id, 品名, 数量 }) => [id, 品名, 数量])).toEqual([
      [1, '釘', 1],
      [3, 'ねじ', 30],
      [4, 'ねじ', 4],
      [5, '板', 9],
    ]);
    const rangesOf = async (id: number) => {
      const params = { path: { ...at(workbookId, '在庫'), row_id: id } };
      const lineage = ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/rows/{row_id}/lineage', { params }));
      return lineage.cells.map(({ range }) => range);
    };
    expect([await rangesOf(1), await rangesOf(4), await rangesOf(5)]).toEqual([['A4:C4'], ['A2:C2'], ['A3:C3']]);
    ok(
      await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/snapshots/{snapshot_id}/restore', {
        params: { path: { workbook_id: workbookId, snapshot_id: kept.id } },
      }),
    );
    expect([await rangesOf(1), await rangesOf(2), await rangesOf(4)]).toEqual([['A2:C2'], ['A3:C3'], ['A5:C5']]);
  });

  it('of a statement keep its tables apart', async () => {
    const workbookId = await world.newWorkbook();
    const first = await world.upload('損益.xlsx', await makeIncomeStatement(1_000), { workbookId });
    const answer = await revise(workbookId, '損益.xlsx', await makeIncomeStatement(6_000));
    expect(answer.artifacts.map(({ id, name }) => [id, name])).toEqual(first.artifacts.map(({ id, name }) => [id, name]));
    expect(await world.query("SELECT 値 FROM 損益計算書_階層2 WHERE 科目 = '製品売上' AND 期間 = '2022年度'", workbookId)).toEqual([
      { 値: 6000 },
    ]);
    expect((await getTable(workbookId, '損益計算書_階層2')).edit_version).toBe(2);
    // The accounts are what they were.
    expect((await getTable(workbookId, '損益計算書_科目')).edit_version).toBe(1);
  });

  it('that are the same change nothing', async () => {
    const workbookId = await world.newWorkbook();
    const bytes = await makeXlsx({ S: bare(2) });
    const first = await world.upload('在庫.xlsx', bytes, { workbookId });
    const again = await revise(workbookId, '在庫.xlsx', bytes);
    expect(again).toEqual({ ...first, credits_charged: 0 });
    expect((await getTable(workbookId, '在庫')).edit_version).toBe(1);
  });

  it('that cannot be structured are refused, and nothing changes', async () => {
    const workbookId = await world.newWorkbook();
    const first = await world.upload('在庫.xlsx', await makeXlsx({ S: bare(3) }), { workbookId });
    const credits = await world.readCredits();
    for (const bytes of [await makeXlsx({ S: scattered() }), await makeXlsx({ S: [] })]) {
      const response = await send(workbookId, '在庫.xlsx', bytes);
      expect([response.status, ((await response.json()) as { type: string }).type]).toEqual([422, 'urn:svc:problem:validation-failed']);
    }
    expect(await world.getSource('在庫.xlsx', workbookId)).toEqual(first.source);
    expect(await world.readRows('在庫', workbookId)).toHaveLength(3);
    expect(await world.readCredits()).toEqual(credits);
  });

  it('of which a sheet is not understood any more bring its raw table back, and take it away again', async () => {
    const workbookId = await world.newWorkbook();
    await world.upload('支店.xlsx', await makeXlsx({ 東京: bare(2), 大阪: bare(3) }), { workbookId });
    const worse = await revise(workbookId, '支店.xlsx', await makeXlsx({ 東京: bare(4), 大阪: scattered() }));
    expect(namesOf(worse).sort()).toEqual(['支店_大阪', '支店_東京']);
    expect((await world.readCells('支店_大阪', workbookId))[0]).toMatchObject({ A: '1' });
    expect(await world.readRows('支店_東京', workbookId)).toHaveLength(4);
    const better = await revise(workbookId, '支店.xlsx', await makeXlsx({ 東京: bare(4), 大阪: bare(5) }));
    expect(better.artifacts.map(({ name, row_count }) => [name, row_count])).toEqual([
      ['支店_東京', 4],
      ['支店_大阪', 5],
    ]);
    expect(better.artifacts[0]?.id).toBe(worse.artifacts.find(({ name }) => name === '支店_東京')?.id);
  });

  it('under another title fill the same table', async () => {
    const workbookId = await world.newWorkbook();
    const first = await world.upload('月次.xlsx', await makeXlsx({ S: [['4月の在庫'], [], ...bare(2)] }), { workbookId });
    const answer = await revise(workbookId, '月次.xlsx', await makeXlsx({ S: [['5月の在庫'], [], ...bare(3)] }));
    expect(answer.artifacts.map(({ id, name }) => [id, name])).toEqual(first.artifacts.map(({ id, name }) => [id, name]));
    expect(answer.artifacts[0]).toMatchObject({ name: '4月の在庫', row_count: 3 });
  });

  it('with other sheets make and archive tables', async () => {
    const workbookId = await world.newWorkbook();
    await world.upload('支店.xlsx', await makeXlsx({ 東京: bare(2), 大阪: bare(3) }), { workbookId });
    const answer = await revise(workbookId, '支店.xlsx', await makeXlsx({ 東京: bare(4), 京都: bare(5) }));
    expect(namesOf(answer)).toEqual(['支店_東京', '支店_京都']);
    expect(await world.listNames('active', workbookId)).toEqual(['支店_京都', '支店_東京']);
    expect(await world.readRows('支店_京都', workbookId)).toHaveLength(5);
    expect(await world.listNames('archived', workbookId)).toEqual(['支店_京都_原本', '支店_大阪', '支店_大阪_原本', '支店_東京_原本']);
  });

  it('of a source as it is give its raw table the next version', async () => {
    const workbookId = await world.newWorkbook();
    await world.upload('生.xlsx', await makeXlsx({ S: bare(2) }), { workbookId, fields: { structuring: 'skip' } });
    const answer = await revise(workbookId, '生.xlsx', await makeXlsx({ S: bare(3) }));
    expect(answer).toMatchObject({ structuring: 'skipped', credits_charged: 0 });
    expect(await world.readRows('生', workbookId)).toHaveLength(4);
    expect((await getTable(workbookId, '生')).edit_version).toBe(2);
    expect((await readAt(workbookId, '生', 1)).map(({ __svc_row_id: id }) => id)).toEqual([1, 2, 3]);
  });

  it('for a staged source wait to be analyzed', async () => {
    const workbookId = await world.newWorkbook();
    await world.upload('在庫.xlsx', await makeXlsx({ S: bare(2) }), { workbookId, fields: { mode: 'staged' } });
    const path = { workbook_id: workbookId, source_name: '在庫.xlsx' };
    const { client } = world.owner;
    ok(await client.POST('/api/v1/workbooks/{workbook_id}/sources/{source_name}/analyze', { params: { path } }));
    ok(await client.POST('/api/v1/workbooks/{workbook_id}/sources/{source_name}/materialize', { params: { path } }));
    await editRow(workbookId, '在庫', { __svc_row_id: 1, 数量: 1 });
    const answer = await revise(workbookId, '在庫.xlsx', await makeXlsx({ S: bare(5) }));
    expect(answer.source).toMatchObject({ status: 'registered', mode: 'staged', parse_spec: null });
    const spec = ok(await client.POST('/api/v1/workbooks/{workbook_id}/sources/{source_name}/analyze', { params: { path } }));
    expect(spec).toMatchObject({ version: 2, regions: [{ range: 'A1:C6' }] });
    // What was made of it before stays as people have it.
    expect(await world.readRows('在庫', workbookId)).toHaveLength(2);
  });

  it('leave tables that rows of the source were appended to', async () => {
    const workbookId = await world.newWorkbook();
    await world.upload('在庫.xlsx', await makeXlsx({ S: bare(2) }), { workbookId });
    const columns = ['品番', '品名', '数量'].map((name) => ({ name, type: 'VARCHAR' }));
    const { client } = world.owner;
    await makeTable(client, workbookId, '台帳', columns);
    const path = { workbook_id: workbookId, source_name: '在庫.xlsx' };
    const body = { target: { mode: 'append' as const, table: '台帳', expected_version: 1 } };
    ok(await client.POST('/api/v1/workbooks/{workbook_id}/sources/{source_name}/materialize', { params: { path }, body }));
    await editRow(workbookId, '台帳', { 品番: '手で' });
    const answer = await revise(workbookId, '在庫.xlsx', await makeXlsx({ S: bare(6) }));
    expect(namesOf(answer)).toEqual(['在庫']);
    expect(await world.readRows('在庫', workbookId)).toHaveLength(6);
    expect(await world.readRows('台帳', workbookId)).toHaveLength(3);
  });
});
