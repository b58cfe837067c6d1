import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RevisedRow, type RevisionPlan, RevisionPlanner } from '../../../core/merge/planRevision.ts';
import { reviseColumns } from '../../../core/merge/reviseColumns.ts';
import type { Cells, ColumnRecord } from '../../../core/table/table.ts';
import { applyEntries, columns, type Rows } from '../table/anyEdit.ts';
import { anyCell, makeColumn } from '../table/makeTable.ts';

const [code, amount, note] = [makeColumn(1, 'code'), makeColumn(2, 'amount', 'BIGINT'), makeColumn(3, 'note')];
const file = [code, amount];

function plan(rows: RevisedRow[], current: ColumnRecord[] = file, next: ColumnRecord[] = file, keepsIds = true): RevisionPlan {
  const planner = new RevisionPlanner(reviseColumns(file, current, next, 10), keepsIds);
  for (const row of rows) planner.add(row);
  return planner.plan;
}

const row = (a: string | null, b: string | null, c?: string | null): Cells => ({ 1: a, 2: b, ...(c === undefined ? {} : { 3: c }) });
const sides = (base: Cells | null, current: Cells | null, next: Cells | null): RevisedRow => ({
  rowId: 1,
  base,
  current,
  next: next && { rowId: 51, cells: next },
});

describe('the columns of a revised table', () => {
  const names = (current: ColumnRecord[], next: ColumnRecord[]) =>
    reviseColumns(file, current, next, 10)
      .columns.map(({ column: { id, name } }) => `${id} ${name}`)
      .join(', ');

  it.each<[what: string, current: ColumnRecord[], next: ColumnRecord[], columns: string]>([
    ['stay as they are', file, file, '1 code, 2 amount'],
    ['keep the names that people gave them', [code, makeColumn(2, 'yen', 'BIGINT')], file, '1 code, 2 yen'],
    ['take the name of the file where it has both', [code, makeColumn(2, 'note', 'BIGINT')], [...file, note], '1 code, 2 amount, 3 note'],
    ['stay dropped', [code], file, '1 code'],
    ['end with the file', file, [code], '1 code'],
    ['that people added come last', [...file, note], file, '1 code, 2 amount, 3 note'],
    ['that people added make room for those of the file', [...file, note], [...file, makeColumn(3, 'C')], '1 code, 2 amount, 3 C, 10 note'],
    ['that people and the file added are one', [...file, note], [...file, makeColumn(9, 'NOTE')], '1 code, 2 amount, 9 NOTE'],
    [
      'that people and the file renamed are one',
      [code, makeColumn(2, 'yen', 'BIGINT')],
      [code, makeColumn(9, 'yen', 'BIGINT')],
      '1 code, 9 yen',
    ],
  ])('%s', (_, current, next, expected) => {
    expect(names(current, next)).toEqual(expected);
  });

  it('are described as before', () => {
    const [first] = reviseColumns(file, [{ ...code, description: 'the code' }, amount], file, 10).columns;
    expect(first?.column.description).toBe('the code');
  });
});

describe('a revision', () => {
  it.each<[what: string, row: RevisedRow, entries: object[], conflicts: object[]]>([
    [
      'keeps an edit where the file did not change the cell, and the change of the file beside it',
      sides(row('a', '1'), row('a', '2'), row('b', '1')),
      [{ rowId: 51, op: 'U', changed: [2], cells: row('b', '2'), before: { 2: '1' } }],
      [],
    ],
    [
      'wins where both changed a cell, and keeps what it replaced',
      sides(row('a', '1'), row('a', '2'), row('a', '3')),
      [],
      [{ rowId: 51, columnId: 2, base: '1', prior: '2', current: '3' }],
    ],
    ['has nothing to do where both changed a cell to the same', sides(row('a', '1'), row('a', '2'), row('a', '2')), [], []],
    [
      'leaves a row deleted that it did not change',
      sides(row('a', '1'), null, row('a', '1')),
      [{ rowId: 51, op: 'D', changed: [1, 2], cells: null, before: row('a', '1') }],
      [],
    ],
    [
      'brings a deleted row back that it changed',
      sides(row('a', '1'), null, row('a', '2')),
      [],
      [{ rowId: 51, columnId: 0, base: '51', prior: null, current: '51' }],
    ],
    [
      'takes an edited row away that the file does not have any more',
      sides(row('a', '1'), row('a', '2'), null),
      [],
      [{ rowId: 1, columnId: 0, base: '1', prior: '1', current: null }],
    ],
    ['takes other rows away without a word', sides(row('a', '1'), row('a', '1'), null), [], []],
    [
      'keeps rows that were added',
      sides(null, row('new', '5'), null),
      [{ rowId: 1, op: 'I', changed: [1, 2], cells: row('new', '5'), before: null }],
      [],
    ],
    [
      'makes one row of those that people and the file added',
      sides(null, row('new', '5'), row('new', '6')),
      [],
      [{ rowId: 51, columnId: 2, base: null, prior: '5', current: '6' }],
    ],
  ])('%s', (_, given, entries, conflicts) => {
    expect(plan([given])).toEqual({ entries, conflicts });
  });

  it('gives rows that were added the ids behind those of the file where their order tells something', () => {
    const added = [sides(null, row('x', '1'), null), { ...sides(null, row('y', '2'), null), rowId: 2 }];
    expect(plan(added, file, file, false).entries.map(({ rowId }) => rowId)).toEqual([-1, -2]);
  });

  it('keeps the cells of a column that people added, and its default elsewhere', () => {
    const added = { ...note, defaultText: '-' };
    const touched = [sides(row('a', '1'), row('a', '1', 'seen'), row('a', '7')), sides(row('b', '1'), row('b', '1', '-'), row('b', '1'))];
    expect(plan(touched, [...file, added]).entries).toEqual([
      { rowId: 51, op: 'U', changed: [3], cells: row('a', '7', 'seen'), before: { 3: '-' } },
    ]);
  });

  it('keeps edits of columns that it does not have any more as conflicts', () => {
    expect(plan([sides(row('a', '1'), row('a', '2'), row('a', null))], file, [code])).toEqual({
      entries: [],
      conflicts: [{ rowId: 51, columnId: 2, base: '1', prior: '2', current: null }],
    });
  });

  it('reads edits of a retyped column in the type of the file, and keeps those that do not fit', () => {
    const retyped = makeColumn(5, 'amount');
    const edited = (text: string): RevisedRow => sides(row('a', '1'), { 1: 'a', 5: text }, row('a', '1'));
    expect(plan([edited('1')], [code, retyped])).toEqual({ entries: [], conflicts: [] });
    expect(plan([edited('7')], [code, retyped]).entries).toMatchObject([{ cells: row('a', '7') }]);
    expect(plan([edited('many')], [code, retyped])).toEqual({
      entries: [],
      conflicts: [{ rowId: 51, columnId: 5, base: null, prior: 'many', current: null }],
    });
  });
});

const anyRow = fc.tuple(anyCell, anyCell, anyCell).map(([a, b, c]): Cells => ({ 1: a, 2: b, 3: c }));
const anyRows = (from: number) =>
  fc
    .uniqueArray(fc.tuple(fc.integer({ min: from, max: from + 5 }), fc.option(anyRow)), { selector: ([id]) => id })
    .map((rows) => new Map(rows));
const apply = (rows: Rows, changes: Map<number, Cells | null>) => {
  const after = new Map(rows);
  for (const [id, cells] of changes) {
    if (cells) after.set(id, cells);
    else after.delete(id);
  }
  return after;
};

describe('any revision', () => {
  it('ends as a naive model says: what one side did is there, and what both did is a conflict', () => {
    const given = fc.record({ base: anyRows(1), edits: anyRows(3), revised: anyRows(1) });
    fc.assert(
      fc.property(given, ({ base: drawn, edits, revised }) => {
        const base = apply(new Map(), drawn);
        const current = apply(base, edits);
        const next = apply(base, revised);
        const planner = new RevisionPlanner(reviseColumns(columns, columns, columns, 4), true);
        const fileId = (id: number) => id + 50;
        for (const id of edits.keys()) {
          const found = next.get(id);
          planner.add({
            rowId: id,
            base: base.get(id) ?? null,
            current: current.get(id) ?? null,
            next: found ? { rowId: fileId(id), cells: found } : null,
          });
        }
        const landed = new Map([...next].map(([id, cells]) => [fileId(id), cells]));
        const { rows } = applyEntries(landed, planner.plan.entries);
        const model = mergeNaively(base, current, next, fileId);
        expect(rows).toEqual(model.rows);
        expect(planner.plan.conflicts.map(({ rowId, columnId }) => `${rowId}/${columnId}`).sort()).toEqual(model.conflicts.sort());
      }),
      { numRuns: 2000 },
    );
  });
});

function mergeNaively(base: Rows, current: Rows, next: Rows, fileId: (id: number) => number): { rows: Rows; conflicts: string[] } {
  const rows: Rows = new Map();
  const conflicts: string[] = [];
  const same = (a: Cells | undefined, b: Cells | undefined) => JSON.stringify(a) === JSON.stringify(b);
  for (const id of new Set([...current.keys(), ...next.keys()])) {
    const [was, mine, theirs] = [base.get(id), current.get(id), next.get(id)];
    if (theirs && mine) {
      const cells: Cells = { ...theirs };
      for (const column of [1, 2, 3]) {
        const [a, b, c] = [was?.[column] ?? null, mine[column] ?? null, theirs[column] ?? null];
        if (b !== a && c === a) cells[column] = b;
        else if (b !== a && b !== c) conflicts.push(`${fileId(id)}/${column}`);
      }
      rows.set(fileId(id), cells);
    } else if (theirs) {
      if (was && same(was, theirs)) continue;
      rows.set(fileId(id), theirs);
      if (was) conflicts.push(`${fileId(id)}/0`);
    } else if (mine && !was) rows.set(id, mine);
    else if (mine && !same(was, mine)) conflicts.push(`${id}/0`);
  }
  return { rows, conflicts };
}
