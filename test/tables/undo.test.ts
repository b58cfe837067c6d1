import { describe, expect, it } from 'vitest';
import { compactTable } from '../../activities/compaction/compactTable.ts';
import { compactionLimits } from '../../core/table/compactionLimits.ts';
import { ok, refused } from '../setup/api.ts';
import { useWorkbook } from './tableDriver.ts';

const { api, world } = await useWorkbook();

const columns = [{ name: 'a' }, { name: 'n', type: 'BIGINT' }];

describe('undoOp', () => {
  it('puts changed cells back, takes inserted rows away, and leaves other cells alone', async () => {
    const table = await world.makeTable('mixed', columns);
    ok(await table.upsert([{ a: 'x', n: 1 }, { a: 'y' }], 1));
    const edit = ok(await table.upsert([{ __svc_row_id: 1, a: 'changed' }, { a: 'z' }], 2));
    ok(await table.upsert([{ __svc_row_id: 1, n: 5 }], 3));
    expect(ok(await world.undo(edit.op_id))).toMatchObject({ undone_op_id: edit.op_id, table: 'mixed', edit_version: 5, stale: [] });
    expect(await table.read()).toMatchObject({
      row_count: 2,
      rows: [
        { a: 'x', n: 5, __svc_row_id: 1 },
        { a: 'y', n: null, __svc_row_id: 2 },
      ],
    });
    const { ops } = await world.ops({ limit: 3 });
    expect(ops.map(({ kind, undoable, undone_by }) => ({ kind, undoable, undone_by }))).toEqual([
      { kind: 'rows.undo', undoable: false, undone_by: null },
      { kind: 'rows.upsert', undoable: true, undone_by: null },
      { kind: 'rows.upsert', undoable: false, undone_by: ops[0]?.op_id },
    ]);
    // Rows that came and went never give their id to another.
    expect(ok(await table.upsert([{ a: 'next' }])).row_ids).toEqual([4]);
  });

  it('brings deleted rows back under their ids, with defaults in columns that were added since', async () => {
    const table = await world.makeTable('deleted', columns);
    ok(await table.upsert([{ a: 'x', n: 1 }, { a: 'y', n: 2 }, { a: 'z' }]));
    const gone = ok(await table.remove([2, 3]));
    ok(await table.add({ column: 'd', type: 'BIGINT', default: 7 }));
    ok(await world.undo(gone.op_id));
    expect((await table.read()).rows).toEqual([
      { a: 'x', n: 1, d: 7, __svc_row_id: 1 },
      { a: 'y', n: 2, d: 7, __svc_row_id: 2 },
      { a: 'z', n: null, d: 7, __svc_row_id: 3 },
    ]);
    expect((await table.read()).row_count).toBe(3);
  });

  it('is not done twice, not of another kind, and not of what is not there', async () => {
    const table = await world.makeTable('once', columns);
    const edit = ok(await table.upsert([{ a: 'x' }]));
    const undone = ok(await world.undo(edit.op_id));
    refused(await world.undo(edit.op_id), 409, 'in-use');
    refused(await world.undo(undone.op_id), 409, 'in-use');
    const added = ok(await table.add({ column: 'b' }));
    refused(await world.undo(added.op_id), 409, 'in-use');
    refused(await world.undo(999_999), 404, 'not-found');
    const others = await Promise.all(
      [ok(await table.upsert([{ a: 'y' }])).op_id].flatMap((id) => [world.undo(id), world.undo(id), world.undo(id)]),
    );
    expect(others.map((answer) => answer.response.status).sort()).toEqual([200, 409, 409]);
  });

  it('is refused with the cells named when later edits touched them', async () => {
    const table = await world.makeTable('touched', columns);
    ok(
      await table.upsert([
        { a: 'x', n: 1 },
        { a: 'y', n: 1 },
      ]),
    );
    const edit = ok(
      await table.upsert([
        { __svc_row_id: 1, a: 'X', n: 2 },
        { __svc_row_id: 2, n: 2 },
      ]),
    );
    ok(await table.upsert([{ __svc_row_id: 1, n: 3 }]));
    const problem = refused(await world.undo(edit.op_id), 409, 'version-conflict');
    expect(problem).toMatchObject({ current_version: 4, changed: [{ row_id: 1, columns: ['n'] }], changed_truncated: false });
    expect((await table.read()).rows[1]).toMatchObject({ n: 2 });
    const inserted = ok(await table.upsert([{ a: 'new' }]));
    ok(await table.upsert([{ __svc_row_id: 3, n: 1 }]));
    expect(refused(await world.undo(inserted.op_id), 409, 'version-conflict').changed).toEqual([{ row_id: 3, columns: ['n'] }]);
    ok(await table.remove([2]));
    expect(refused(await world.undo(edit.op_id), 409, 'version-conflict').changed).toMatchObject([{ row_id: 1 }, { row_id: 2 }]);
  });

  it('goes back step by step: an edit that was undone stands in no way', async () => {
    const table = await world.makeTable('steps', columns);
    ok(await table.upsert([{ a: '0' }]));
    const first = ok(await table.upsert([{ __svc_row_id: 1, a: '1' }]));
    const second = ok(await table.upsert([{ __svc_row_id: 1, a: '2' }]));
    const third = ok(await table.remove([1]));
    refused(await world.undo(first.op_id), 409, 'version-conflict');
    for (const { op_id } of [third, second, first]) ok(await world.undo(op_id));
    expect((await table.read()).rows).toEqual([{ a: '0', n: null, __svc_row_id: 1 }]);
  });

  it.each([['insert'], ['update']])('of an %s is refused with the cell named once its column was retyped', async (kind) => {
    const table = await world.makeTable(`retyped ${kind}`, [{ name: 'a' }, { name: 'v' }]);
    let edit = ok(await table.upsert([{ a: 'x', v: '007' }]));
    if (kind === 'update') edit = ok(await table.upsert([{ __svc_row_id: 1, v: '008' }]));
    ok(await table.retype('v', 'BIGINT'));
    const problem = refused(await world.undo(edit.op_id), 409, 'version-conflict');
    expect(problem.changed).toEqual([{ row_id: 1, columns: ['v'] }]);
  });

  it('of a column that was dropped is refused, of the others it is not', async () => {
    const table = await world.makeTable('dropped', columns);
    ok(await table.upsert([{ a: 'x', n: 1 }]));
    const a = ok(await table.upsert([{ __svc_row_id: 1, a: 'y' }]));
    const n = ok(await table.upsert([{ __svc_row_id: 1, n: 2 }]));
    ok(await table.drop('n'));
    expect(refused(await world.undo(n.op_id), 409, 'version-conflict').changed).toEqual([{ row_id: 1, columns: ['n'] }]);
    ok(await world.undo(a.op_id));
    expect((await table.read()).rows).toEqual([{ a: 'x', __svc_row_id: 1 }]);
  });

  it('works for edits that are files: a large insert, update and delete', async () => {
    const table = await world.makeTable('large', [...columns, { name: 'at', type: 'TIMESTAMP' }, { name: 'f', type: 'DOUBLE' }]);
    const rows = Array.from({ length: 3000 }, (_, i) => ({ a: `t ${i} "q", \\N`, n: i, at: '2024-04-01T10:00:00.25', f: i / 4 }));
    const inserted = ok(await table.upsert(rows));
    const before = await table.read({ limit: 10000 });
    const updated = ok(await table.upsert(inserted.row_ids.slice(0, 2500).map((id) => ({ __svc_row_id: id, a: null, f: 2 }))));
    refused(await world.undo(inserted.op_id), 409, 'version-conflict');
    ok(await world.undo(updated.op_id));
    expect((await table.read({ limit: 10000 })).rows).toEqual(before.rows);
    const deleted = ok(await table.remove(inserted.row_ids.slice(100, 2100)));
    expect((await table.read({ limit: 1 })).row_count).toBe(1000);
    ok(await world.undo(deleted.op_id));
    expect((await table.read({ limit: 10000 })).rows).toEqual(before.rows);
    ok(await world.undo(inserted.op_id));
    expect(await table.read()).toMatchObject({ rows: [], row_count: 0 });
    expect((await table.read({ at_version: 2, limit: 10000 })).rows).toEqual(before.rows);
  });

  it('and history read on after compaction has folded the files', async () => {
    const table = await world.makeTable('folded', columns);
    const { row_ids: ids, op_id: insertion } = ok(await table.upsert(Array.from({ length: 1200 }, (_, n) => ({ n }))));
    const update = ok(await table.upsert(ids.slice(0, 1100).map((id) => ({ __svc_row_id: id, a: 'all' }))));
    const small = ok(await table.upsert([{ __svc_row_id: ids[7], n: -7 }]));
    const { rows } = await api.sql.query<{ id: string }>("SELECT id FROM tables WHERE name = 'folded'");
    const limits = { ...compactionLimits, tail: 0, deltas: 1 };
    expect(await compactTable(api.services, rows[0]?.id ?? '', { heartbeat() {} }, limits)).toBe('compacted');
    const before = await table.read({ limit: 2000 });
    const told = ok(await table.history(ids[7] as number)).changes.map(({ kind, cells }) => [kind, cells.map((cell) => cell.column)]);
    expect(told).toEqual([
      ['update', ['n']],
      ['update', ['a']],
      ['insert', ['n']],
    ]);
    for (const op of [small.op_id, update.op_id]) ok(await world.undo(op));
    expect((await table.read({ limit: 2000 })).rows.every((row, i) => row.a === null && row.n === i)).toBe(true);
    expect((await table.read({ limit: 2000, at_version: 4 })).rows).toEqual(before.rows);
    expect(ok(await table.diff(4)).updated_count).toBe(1100);
    ok(await table.retype('a', 'BIGINT'));
    expect(ok(await table.diff(2)).updated_count).toBe(0);
    ok(await world.undo(insertion));
    expect((await table.read()).row_count).toBe(0);
  });

  it('tells of a large edit what changed in the 409, and lets a rebase through', async () => {
    const table = await world.makeTable('large conflict', columns);
    const { row_ids: ids } = ok(await table.upsert(Array.from({ length: 1500 }, (_, n) => ({ n }))));
    ok(await table.upsert(ids.slice(0, 1100).map((id) => ({ __svc_row_id: id, n: -1 }))));
    const capped = refused(await table.upsert([{ __svc_row_id: ids[0], n: 9 }], 2), 409, 'version-conflict');
    expect(capped.changed_truncated).toBe(true);
    expect((capped.changed as unknown[]).slice(0, 1)).toEqual([{ row_id: ids[0], columns: ['n'] }]);
    ok(await table.upsert([{ __svc_row_id: ids[0], a: 'late' }], 3));
    expect(ok(await table.upsert([{ __svc_row_id: ids[1], a: 'free' }], 3, { rebase: true })).edit_version).toBe(5);
    refused(await table.upsert([{ __svc_row_id: ids[0], a: 'lost' }], 3, { rebase: true }), 409, 'version-conflict');
  });
});

describe('listOps: the op log', () => {
  it('offers no undo for a table that is archived or gone', async () => {
    const table = await world.makeTable('put_away', columns);
    const { op_id } = ok(await table.upsert([{ a: 'x' }]));
    const isUndoable = async () => (await world.ops({ limit: 10 })).ops.find((op) => op.op_id === op_id)?.undoable;
    const path = { workbook_id: world.workbookId, name: 'put_away' };
    expect(await isUndoable()).toBe(true);
    ok(await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/artifacts/{name}/archive', { params: { path } }));
    expect(await isUndoable()).toBe(false);
    ok(await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/artifacts/{name}/unarchive', { params: { path } }));
    expect(await isUndoable()).toBe(true);
  });

  it('is newest first, paged by cursor or before, and says who', async () => {
    const all = await world.ops({ limit: 1000 });
    expect(all.next_cursor).toBeNull();
    const ids = all.ops.map((op) => op.op_id);
    expect(ids).toEqual([...ids].sort((a, b) => b - a));
    const first = await world.ops({ limit: 3 });
    const second = await world.ops({ limit: 3, cursor: first.next_cursor ?? '' });
    expect([...first.ops, ...second.ops].map((op) => op.op_id)).toEqual(ids.slice(0, 6));
    expect((await world.ops({ before: ids[4], limit: 2 })).ops.map((op) => op.op_id)).toEqual(ids.slice(5, 7));
    expect(first.ops[0]).toMatchObject({ user_id: world.owner.userId, credential: { kind: 'session' } });
    expect((await world.ops()).ops.length).toBe(Math.min(50, ids.length));
  });
});
