import type ExcelJS from 'exceljs';
import { describe, expect, it } from 'vitest';
import { ok } from '../setup/api.ts';
import { editBook, useReturnedFiles } from './returnedFiles.ts';
import { makeWorkbookWith } from './tableDriver.ts';

const { api, world, listed, branchOff, send, merge, makeSales } = await useReturnedFiles();

describe('a returned file', () => {
  it('tells of its merges and conflicts in events', async () => {
    const [a, b] = [await makeSales('出来事一'), await makeSales('出来事二')];
    const exported = await branchOff(['出来事一', '出来事二']);
    ok(await a.upsert([{ __svc_row_id: 1, 金額: 1, 済: false }]));
    const file = await editBook(exported, (book) => {
      const sheet = book.worksheets[0] as ExcelJS.Worksheet;
      sheet.getCell('C2').value = 2;
      sheet.getCell('B2').value = '改';
    });
    const { body } = await send('/sync', file.bytes, {});
    const [merged] = body.tables;
    const { rows: events } = await api.sql.query<{ type: string; data: Record<string, unknown> }>(
      `SELECT type, data FROM outbox WHERE scope = $1 AND type IN ('version.merged', 'conflict.created') AND data->>'name' LIKE '出来事%'
       ORDER BY type, data->>'name'`,
      [world.workbookId],
    );
    expect(events).toMatchObject([
      { type: 'conflict.created', data: { name: '出来事一', conflict_id: merged?.conflicts[0], kind: 'overwrite' } },
      { type: 'version.merged', data: { name: '出来事一', branch_id: exported.branchId, edit_version: 4, conflicts: 1 } },
      { type: 'version.merged', data: { name: '出来事二', branch_id: exported.branchId, edit_version: 2, conflicts: 0 } },
    ]);
    expect(JSON.stringify(events)).not.toContain('改');
    const { branches } = ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/branches', listed));
    expect(branches.filter(({ id }) => id === exported.branchId)).toMatchObject([
      { table: '出来事一', last_merged_at: expect.any(String) },
      { table: '出来事二', last_merged_at: expect.any(String) },
    ]);
    expect((await b.read()).edit_version).toBe(2);
  });

  it('keeps rows that one side deleted and the other edited as conflicts, which can be reverted', async () => {
    const table = await makeSales('行');
    const exported = await branchOff(['行']);
    ok(await table.remove([1]));
    ok(await table.upsert([{ __svc_row_id: 3, 金額: 33 }]));
    const file = await editBook(exported, (book) => {
      const sheet = book.worksheets[0] as ExcelJS.Worksheet;
      sheet.getCell('C2').value = 11;
      sheet.spliceRows(4, 1);
    });
    const { conflicts } = await merge('行', file);
    expect((await table.read()).rows.map((row) => [row.__svc_row_id, row.金額])).toEqual([
      [1, 11],
      [2, '9007199254740993'],
    ]);
    const shown = ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/conflicts', listed)).conflicts;
    const ofRows = shown
      .filter(({ id }) => conflicts.includes(id))
      .map(({ row_id, column, prior, current }) => [row_id, column, prior, current]);
    expect(ofRows.sort()).toEqual([
      [1, '__svc_row_id', null, 1],
      [3, '__svc_row_id', 3, null],
    ]);
    for (const conflict_id of conflicts)
      ok(
        await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/conflicts/{conflict_id}/resolve', {
          params: { path: { ...listed.params.path, conflict_id } },
          body: { action: 'revert' },
        }),
      );
    expect((await table.read()).rows.map((row) => [row.__svc_row_id, row.金額])).toEqual([
      [2, '9007199254740993'],
      [3, 33],
    ]);
  });

  it('is merged by cell: edits, added and deleted rows, and conflicts that keep what was replaced', async () => {
    const table = await makeSales('売上明細');
    const exported = await branchOff(['売上明細']);
    ok(await table.upsert([{ __svc_row_id: 1, 金額: 1, 得意先: '先に' }]));
    const file = await editBook(exported, (book) => {
      const sheet = book.worksheets[0] as ExcelJS.Worksheet;
      sheet.getCell('C2').value = 130000;
      sheet.getCell('E3').value = true;
      sheet.spliceRows(4, 1);
      sheet.addRow([new Date(Date.UTC(2024, 4, 1)), '新規', 5]);
      sheet.name = '名前を変えた';
    });
    const planned = await merge('売上明細', file, 'book.xlsx', '?dry_run=true');
    expect(planned).toMatchObject({ edit_version: 3, op_id: null, inserted: 1, updated: 2, deleted: 1, conflicts: [] });
    expect(planned.planned_conflicts).toEqual([{ row_id: 1, column: '金額', base: 120000, prior: 1, current: 130000 }]);
    const changes = planned.planned_changes ?? [];
    const told = changes.map(({ row_id, kind, cells }) => [row_id, kind, cells.map((cell) => [cell.column, cell.old, cell.new])]);
    expect(told.filter(([, kind]) => kind === 'update')).toEqual([
      [1, 'update', [['金額', 1, 130000]]],
      [2, 'update', [['済', false, true]]],
    ]);
    expect(told.find(([, kind]) => kind === 'delete')).toEqual([3, 'delete', expect.arrayContaining([['日付', '1868-10-23', null]])]);
    expect(told.find(([, kind]) => kind === 'insert')).toEqual([
      null,
      'insert',
      [
        ['日付', null, '2024-05-01'],
        ['得意先', null, '新規'],
        ['金額', null, 5],
      ],
    ]);
    expect((await table.read()).edit_version).toBe(3);

    const merged = await merge('売上明細', file);
    expect(merged).toMatchObject({ edit_version: 4, inserted: 1, updated: 2, deleted: 1, unchanged: 0 });
    const after = (await table.read()).rows;
    expect(after.map((row) => [row.__svc_row_id, row.得意先, row.金額, row.済])).toEqual([
      [1, '先に', 130000, true],
      [2, '=1+1', '9007199254740993', true],
      [4, '新規', 5, null],
    ]);
    const open = { params: { ...listed.params, query: { status: 'open' as const } } };
    const { conflicts } = ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/conflicts', open));
    expect(conflicts.filter(({ table: name }) => name === '売上明細')).toMatchObject([
      {
        id: merged.conflicts[0],
        table: '売上明細',
        row_id: 1,
        column: '金額',
        kind: 'overwrite',
        status: 'open',
        base: 120000,
        prior: 1,
        current: 130000,
      },
    ]);

    expect(await merge('売上明細', file)).toMatchObject({
      edit_version: 4,
      op_id: null,
      inserted: 0,
      updated: 0,
      deleted: 0,
      conflicts: [],
    });

    const revert = {
      params: { path: { ...listed.params.path, conflict_id: merged.conflicts[0] ?? '' } },
      body: { action: 'revert' as const },
    };
    const resolve = '/api/v1/workbooks/{workbook_id}/conflicts/{conflict_id}/resolve' as const;
    expect(ok(await world.owner.client.POST(resolve, revert))).toMatchObject({ status: 'reverted', current: 1, edit_version: 5 });
    expect((await table.read()).rows[0]).toMatchObject({ 金額: 1 });
    expect((await world.owner.client.POST(resolve, revert)).response.status).toBe(409);
  });
});

describe('a conflict', () => {
  const resolve = (conflict_id: string, action: 'acknowledge' | 'revert' | 'drop_override') =>
    world.owner.client.POST('/api/v1/workbooks/{workbook_id}/conflicts/{conflict_id}/resolve', {
      params: { path: { ...listed.params.path, conflict_id } },
      body: { action, actor: '佐藤' },
    });
  const listIds = async (status: 'open' | 'acknowledged' | 'reverted') => {
    const params = { ...listed.params, query: { status, limit: 1000 } };
    return ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/conflicts', { params })).conflicts.map(({ id }) => id);
  };
  /** Two conflicts in one row: on 得意先 and 金額. */
  const openTwo = async (name: string) => {
    const table = await makeSales(name);
    const exported = await branchOff([name]);
    ok(await table.upsert([{ __svc_row_id: 1, 得意先: '先に', 金額: 1 }]));
    const file = await editBook(exported, (book) => {
      const sheet = book.worksheets[0] as ExcelJS.Worksheet;
      sheet.getCell('B2').value = '後に';
      sheet.getCell('C2').value = 2;
    });
    const [first = '', second = ''] = (await merge(name, file)).conflicts;
    return { table, first, second };
  };

  it('is closed once: acknowledged as it is, or reverted as an edit of its own', async () => {
    const { table, first, second } = await openTwo('解決');
    expect(await listIds('open')).toEqual(expect.arrayContaining([first, second]));
    const closed = ok(await resolve(first, 'acknowledge'));
    expect(closed).toMatchObject({
      status: 'acknowledged',
      edit_version: null,
      op_id: null,
      resolved_by: '佐藤',
      resolved_at: expect.any(String),
    });
    expect((await table.read()).edit_version).toBe(4);
    expect(ok(await resolve(second, 'revert'))).toMatchObject({ status: 'reverted', edit_version: 5, op_id: expect.any(Number) });
    for (const id of [first, second])
      for (const action of ['acknowledge', 'revert', 'drop_override'] as const)
        expect([action, (await resolve(id, action)).response.status]).toEqual([action, 409]);
    expect((await table.read()).edit_version).toBe(5);
    expect(await listIds('open')).not.toEqual(expect.arrayContaining([first]));
    expect([await listIds('acknowledged'), await listIds('reverted')]).toEqual([
      expect.arrayContaining([first]),
      expect.arrayContaining([second]),
    ]);
    const { ops } = await world.ops({ limit: 1 });
    expect(ops).toMatchObject([{ kind: 'rows.upsert', actor: '佐藤' }]);
  });

  it('is no override, and is found in its own workbook only', async () => {
    const { first } = await openTwo('違い');
    expect((await resolve(first, 'drop_override')).response.status).toBe(409);
    expect(await listIds('open')).toContain(first);
    expect((await resolve('cfl_01JXQ2V7M0Z8K4T5R6W9A1B201', 'acknowledge')).response.status).toBe(404);
    const other = await makeWorkbookWith(api);
    const answer = await other.owner.client.POST('/api/v1/workbooks/{workbook_id}/conflicts/{conflict_id}/resolve', {
      params: { path: { workbook_id: other.workbookId, conflict_id: first } },
      body: { action: 'acknowledge' },
    });
    expect(answer.response.status).toBe(404);
  });

  it('whose row or column is gone can only be acknowledged', async () => {
    const { table, first, second } = await openTwo('消えた');
    ok(await table.drop('金額'));
    ok(await table.remove([1]));
    for (const id of [first, second]) expect((await resolve(id, 'revert')).response.status).toBe(409);
    for (const id of [first, second]) expect(ok(await resolve(id, 'acknowledge'))).toMatchObject({ status: 'acknowledged' });
  });

  it('is reverted once by many at the same time', async () => {
    const { table, first } = await openTwo('同時');
    const statuses = (await Promise.all([1, 2, 3].map(() => resolve(first, 'revert')))).map(({ response }) => response.status);
    expect(statuses.sort()).toEqual([200, 409, 409]);
    expect((await table.read()).edit_version).toBe(5);
  });
});
