import { describe, expect, it } from 'vitest';
import { ok } from '../setup/api.ts';
import { holdDraft, holdSource } from './hold.ts';
import { withRevisions } from './revisions.ts';
import { bare, makeIncomeStatement, makeXlsx, useWorld } from './world.ts';

const world = await useWorld();

const { send, revise, at, getTable, editRow, waitForJobOf, waitForStage } = withRevisions(world);

const listConflicts = async (workbookId: string) =>
  ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/conflicts', { params: { path: { workbook_id: workbookId } } }))
    .conflicts;
const revert = async (workbookId: string, conflict_id: string) =>
  ok(
    await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/conflicts/{conflict_id}/resolve', {
      params: { path: { workbook_id: workbookId, conflict_id } },
      body: { action: 'revert' },
    }),
  );
const removeRow = async (workbookId: string, name: string, rowId: number) =>
  ok(
    await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/tables/{name}/rows/delete', {
      params: { path: at(workbookId, name) },
      body: { row_ids: [rowId], expected_version: null },
    }),
  );

describe('new bytes for a source whose tables were edited', () => {
  it('are merged by cell: edits, rows and columns of people stay, and what was replaced is a conflict', async () => {
    const workbookId = await world.newWorkbook();
    await world.upload('在庫.xlsx', await makeXlsx({ S: bare(6) }), { workbookId });
    await editRow(workbookId, '在庫', { __svc_row_id: 1, 数量: 100 });
    await editRow(workbookId, '在庫', { __svc_row_id: 2, 数量: 200 });
    await removeRow(workbookId, '在庫', 3);
    await removeRow(workbookId, '在庫', 4);
    await editRow(workbookId, '在庫', { __svc_row_id: 5, 品名: '手で' });
    const path = at(workbookId, '在庫');
    const { client } = world.owner;
    ok(
      await client.POST('/api/v1/workbooks/{workbook_id}/tables/{name}/columns', {
        params: { path },
        body: { column: '備考', type: 'VARCHAR', expected_version: null },
      }),
    );
    ok(
      await client.PATCH('/api/v1/workbooks/{workbook_id}/tables/{name}/columns/{column}', {
        params: { path: { ...path, column: '品名' } },
        body: { new_name: '名称', expected_version: null },
      }),
    );
    const [added] = (await editRow(workbookId, '在庫', { 品番: 'P9', 名称: '追加', 数量: 9, 備考: '人' })).row_ids;
    await editRow(workbookId, '在庫', { __svc_row_id: 6, 備考: '見た' });

    // In another order; 1 with another name, 2 with another quantity, 4 with another name, 5 is gone, 7 is new.
    const revised = [
      ['品番', '品名', '数量'],
      ['P0007', '新', 7],
      ['P0006', '品 6', 15],
      ['P0004', '改', 9],
      ['P0003', '品 3', 6],
      ['P0002', '品 2', 4],
      ['P0001', '改', 0],
    ];
    await revise(workbookId, '在庫.xlsx', await makeXlsx({ S: revised }));
    const now = await world.readRows('在庫', workbookId);
    const shown = now.map(({ 品番, 名称, 数量, 備考 }) => [品番, 名称, 数量, 備考]).sort();
    expect(shown).toEqual([
      ['P0001', '改', 100, null],
      ['P0002', '品 2', 4, null],
      ['P0004', '改', 9, null],
      ['P0006', '品 6', 15, '見た'],
      ['P0007', '新', 7, null],
      ['P9', '追加', 9, '人'],
    ]);
    const idOf = (code: string) => now.find(({ 品番 }) => 品番 === code)?.__svc_row_id;
    expect(idOf('P9')).toBe(added);
    const conflicts = await listConflicts(workbookId);
    expect(
      conflicts.map(({ row_id, column, base, prior, current, branch_id }) => [row_id, column, base, prior, current, branch_id]).sort(),
    ).toEqual(
      [
        [idOf('P0002'), '数量', 3, 200, 4, null],
        [idOf('P0004'), '__svc_row_id', idOf('P0004'), null, idOf('P0004'), null],
        [5, '__svc_row_id', 5, 5, null, null],
      ].sort(),
    );
    const events = (await world.readEvents(workbookId)).filter(({ type }) => type === 'conflict.created');
    expect(events.map(({ data }) => data.conflict_id).sort()).toEqual(conflicts.map(({ id }) => id).sort());

    for (const { id } of conflicts) await revert(workbookId, id);
    const after = await world.readRows('在庫', workbookId);
    expect(after.map(({ 品番, 名称, 数量 }) => [品番, 名称, 数量]).sort()).toEqual([
      ['P0001', '改', 100],
      ['P0002', '品 2', 200],
      ['P0005', '手で', 12],
      ['P0006', '品 6', 15],
      ['P0007', '新', 7],
      ['P9', '追加', 9],
    ]);
  });

  it('are merged with the file as it landed last: edits stay from revision to revision', async () => {
    const workbookId = await world.newWorkbook();
    await world.upload('在庫.xlsx', await makeXlsx({ S: bare(3) }), { workbookId });
    await editRow(workbookId, '在庫', { __svc_row_id: 2, 品名: '手で' });
    await revise(workbookId, '在庫.xlsx', await makeXlsx({ S: bare(4) }));
    await revise(workbookId, '在庫.xlsx', await makeXlsx({ S: bare(5) }));
    expect((await world.readRows('在庫', workbookId)).map(({ 品名 }) => 品名)).toEqual(['品 1', '手で', '品 3', '品 4', '品 5']);
    expect(await listConflicts(workbookId)).toEqual([]);
    const undone = await editRow(workbookId, '在庫', {
      __svc_row_id: (await world.readRows('在庫', workbookId))[1]?.__svc_row_id,
      品名: '品 2',
    });
    await revise(workbookId, '在庫.xlsx', await makeXlsx({ S: bare(6) }));
    expect((await getTable(workbookId, '在庫')).edit_version).toBe(undone.edit_version + 1);
  });

  it('of a statement find the edited figure by account and period', async () => {
    const workbookId = await world.newWorkbook();
    await world.upload('損益.xlsx', await makeIncomeStatement(3_000), { workbookId });
    const figure = "SELECT __svc_row_id AS id, 値 FROM 損益計算書_階層2 WHERE 科目 = '商品売上' AND 期間 = '2023年度'";
    const [before] = await world.query(figure, workbookId);
    await editRow(workbookId, '損益計算書_階層2', { __svc_row_id: before?.id, 値: 61 });
    await revise(workbookId, '損益.xlsx', await makeIncomeStatement(3_001));
    expect(await world.query(figure, workbookId)).toMatchObject([{ 値: 61 }]);
    expect(await world.query("SELECT 値 FROM 損益計算書_階層2 WHERE 科目 = '製品売上' AND 期間 = '2022年度'", workbookId)).toEqual([
      { 値: 3001 },
    ]);
  });

  it('of a raw table find rows by content and place; what was added comes last', async () => {
    const workbookId = await world.newWorkbook();
    const sheet = (rows: string[][]) => rows.map((row) => row.join(',')).join('\n');
    const before = [['題'], ['a', '1'], ['a', '1'], ['b', '2'], ['c', '3'], ['a', '1']];
    await world.upload('生.csv', sheet(before), { workbookId, fields: { structuring: 'skip' } });
    await editRow(workbookId, '生', { __svc_row_id: 3, B: '手' });
    await editRow(workbookId, '生', { __svc_row_id: 4, A: '手' });
    await editRow(workbookId, '生', { A: '足' });
    // A row before the others; the quantity of b is another.
    const after = [['題'], ['新', '0'], ['a', '1'], ['a', '1'], ['b', '22'], ['c', '3'], ['a', '1']];
    await revise(workbookId, '生.csv', Buffer.from(sheet(after)));
    expect((await world.readCells('生', workbookId)).map(({ A, B }) => [A, B])).toEqual([
      ['題', null],
      ['新', '0'],
      ['a', '1'],
      ['a', '手'],
      ['手', '22'],
      ['c', '3'],
      ['a', '1'],
      ['足', null],
    ]);
    expect(await listConflicts(workbookId)).toEqual([]);
  });

  it('take edits in that are made while they are read', async () => {
    const workbookId = await world.newWorkbook();
    const { source } = await world.upload('在庫.xlsx', await makeXlsx({ S: bare(3) }), { workbookId });
    await editRow(workbookId, '在庫', { __svc_row_id: 1, 数量: 100 });
    await world.stopWorker();
    const sent = send(workbookId, '在庫.xlsx', await makeXlsx({ S: bare(4) }));
    const jobId = await waitForJobOf(source.id);
    const draft = await holdDraft(world.api.sql, jobId, 'tables');
    await world.startWorker();
    await waitForStage(jobId, 'structure');
    const hold = await holdSource(world.api.sql, source.id);
    await draft.letGo();
    await hold.reached();
    await editRow(workbookId, '在庫', { __svc_row_id: 2, 数量: 200 });
    await hold.letGo();
    expect((await sent).status).toBe(200);
    expect((await world.readRows('在庫', workbookId)).map(({ 数量 }) => 数量)).toEqual([100, 200, 6, 9]);
  });
});
