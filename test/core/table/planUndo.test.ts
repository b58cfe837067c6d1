import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedCells } from '../../../core/table/changes.ts';
import type { LogEntry } from '../../../core/table/log.ts';
import { planDelete, planUpsert, type RowPlan } from '../../../core/table/planRows.ts';
import { planUndo } from '../../../core/table/planUndo.ts';
import type { Cells } from '../../../core/table/table.ts';
import { anyStored, anyUpsert, applyEntries, columns, type Rows } from './anyEdit.ts';
import { makeAt, makeColumn } from './makeTable.ts';

const at = makeAt({ columns });
const inserted: LogEntry = { rowId: 5, op: 'I', changed: [1], cells: { '1': 'a', '2': null, '3': null }, before: null };
const updated: LogEntry = { rowId: 5, op: 'U', changed: [1], cells: { '1': 'b', '2': 'x', '3': null }, before: { '1': 'a' } };
const deleted: LogEntry = { rowId: 5, op: 'D', changed: [1, 2, 3], cells: null, before: { '1': 'a', '2': 'x', '3': null } };

const undo = (entry: LogEntry, now: Cells | null, touched: number[] | null = null, present = columns) =>
  planUndo(present, [entry], new Map(now ? [[5, now]] : []), new Map(touched ? [[5, new Set(touched)]] : []));

describe('the inverse of an entry', () => {
  const later = [...columns.slice(0, 2), makeColumn(4, 'd', 'VARCHAR', '7')];
  it.each([
    ['an insert is removed', inserted, inserted.cells, columns, [{ ...deleted, before: inserted.cells }]],
    ['an update goes back', updated, updated.cells, columns, [{ ...updated, cells: { ...updated.cells, '1': 'a' }, before: { '1': 'b' } }]],
    [
      'other cells of the row stay as they are now',
      updated,
      { '1': 'b', '2': 'y', '3': 'z' },
      columns,
      [{ ...updated, cells: { '1': 'a', '2': 'y', '3': 'z' }, before: { '1': 'b' } }],
    ],
    ['an update of nothing needs no entry', { ...updated, changed: [], before: {} }, updated.cells, columns, []],
    ['a removed row comes back', deleted, null, columns, [{ ...deleted, op: 'I', changed: [1, 2], cells: deleted.before, before: null }]],
    [
      'a column that came since shows its default',
      deleted,
      null,
      later,
      [{ ...deleted, op: 'I', changed: [1, 2, 4], cells: { '1': 'a', '2': 'x', '4': '7' }, before: null }],
    ],
  ] as [string, LogEntry, Cells | null, typeof columns, LogEntry[]][])('%s', (_, entry, now, present, expected) => {
    expect(undo(entry, now, null, present)).toEqual({ kind: 'planned', entries: expected });
  });
});

describe('cells that cannot go back', () => {
  const rest = columns.slice(1);
  it.each([
    ['a cell that was edited since', updated, updated.cells, [1, 2], columns, [1]],
    ['a cell that holds another value without an edit', updated, { '1': 'c' }, null, columns, [1]],
    ['a cell whose column ended', updated, updated.cells, null, rest, [1]],
    ['a cell whose row is gone', updated, null, null, columns, [1]],
    ['a new row that was edited since', inserted, inserted.cells, [2], columns, [2]],
    ['a new row that is gone', inserted, null, null, columns, [1]],
    ['a new row without cells that is gone', { ...inserted, changed: [] }, null, null, columns, [1, 2, 3]],
    ['a new row with a column that ended', inserted, inserted.cells, null, rest, [1]],
    ['a removed row that is there again', deleted, deleted.before, null, columns, [1, 2, 3]],
    ['a removed row that came and went since', deleted, null, [], columns, [1, 2, 3]],
    ['a removed row with a column that ended', deleted, null, null, rest, [1]],
  ] as [string, LogEntry, Cells | null, number[] | null, typeof columns, number[]][])('%s', (_, entry, now, touched, present, expected) => {
    expect(undo(entry, now, touched, present)).toEqual({ kind: 'conflicts', cells: new Map([[5, new Set(expected)]]) });
  });

  it('nothing but a null was in a column that ended: the row comes back', () => {
    expect(undo(deleted, null, null, columns.slice(0, 2)).kind).toBe('planned');
  });
});

const requirePlan = (plan: RowPlan) => {
  if (plan.kind !== 'planned') throw new Error('rows are missing');
  return plan.edit.plan.entries;
};

/** Rows, an edit of them, and the rows after it. */
const anyEdit = anyStored.chain((rows) =>
  fc
    .oneof(
      anyUpsert(rows).map((upsert) => requirePlan(planUpsert(at, upsert, rows))),
      fc.subarray([...rows.keys()]).map((ids) => requirePlan(planDelete(at, ids, rows))),
    )
    .map((entries) => ({ before: rows, ...applyEntries(rows, entries) })),
);

const undoAll = (entries: LogEntry[], now: Rows, since: LogEntry[]) => planUndo(columns, entries, now, changedCells(since, columns));

describe('undo after an edit', () => {
  it('leads back to where it was', () => {
    fc.assert(
      fc.property(anyEdit, ({ before, rows, applied }) => {
        const plan = undoAll(applied, rows, []);
        if (plan.kind !== 'planned') throw new Error('in conflict');
        expect(applyEntries(rows, plan.entries).rows).toEqual(before);
      }),
    );
  });

  it('and undo of the undo leads to the edit again', () => {
    fc.assert(
      fc.property(anyEdit, ({ before, rows, applied }) => {
        const undone = undoAll(applied, rows, []);
        const redone = undone.kind === 'planned' ? undoAll(undone.entries, before, []) : undone;
        if (redone.kind !== 'planned') throw new Error('in conflict');
        expect(applyEntries(before, redone.entries).rows).toEqual(rows);
      }),
    );
  });

  it('keeps what a later edit did to other cells, or names the cells that both wrote', () => {
    const two = anyEdit.chain((first) =>
      anyUpsert(first.rows).map((upsert) => ({
        first,
        second: applyEntries(first.rows, requirePlan(planUpsert(at, upsert, first.rows)), 200),
      })),
    );
    fc.assert(
      fc.property(two, ({ first, second }) => {
        const touched = changedCells(second.applied, columns);
        const common = first.applied.some(({ rowId, op, changed }) =>
          [...(touched.get(rowId) ?? [])].some((id) => op !== 'U' || changed.includes(id)),
        );
        const plan = undoAll(first.applied, second.rows, second.applied);
        expect(plan.kind).toBe(common ? 'conflicts' : 'planned');
        if (plan.kind !== 'planned') return;
        const undone = applyEntries(second.rows, plan.entries).rows;
        for (const { rowId, changed, cells } of second.applied)
          for (const id of changed) expect(undone.get(rowId)?.[id]).toEqual(cells?.[id]);
      }),
    );
  });
});
