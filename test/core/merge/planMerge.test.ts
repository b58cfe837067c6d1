import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ColumnType, parseColumnType } from '../../../core/cells/columnTypes.ts';
import type { FileCell } from '../../../core/merge/fileCell.ts';
import { type FileRow, MergePlanner, type ThreeSides } from '../../../core/merge/planMerge.ts';
import { sameAsExcel } from '../../../core/merge/sameAsExcel.ts';
import type { Cells } from '../../../core/table/table.ts';
import { applyEntries, type Rows } from '../table/anyEdit.ts';
import { makeColumn } from '../table/makeTable.ts';

const columns = [makeColumn(1, 'code'), makeColumn(2, 'amount', 'BIGINT'), makeColumn(3, 'hidden')];
const inFile = columns.slice(0, 2);

const text = (value: string): FileCell => ({ kind: 'text', text: value, fits: true });
const number = (value: number): FileCell => ({ kind: 'number', text: String(value), fits: true });
const row = (code: string | null, amount: string | null, hidden: string | null = 'h'): Cells => ({ '1': code, '2': amount, '3': hidden });

/** A row of the file with all of its cells. */
interface SheetRow extends Pick<FileRow, 'place' | 'rowId'> {
  cells: (FileCell | null)[];
}

const types = inFile.map(({ type }) => parseColumnType(type) as ColumnType);

function compare({ place, rowId, cells }: SheetRow, base: Cells | null): FileRow {
  const edits = cells.flatMap((cell, column) =>
    sameAsExcel(types[column] as ColumnType, base?.[column + 1] ?? null, cell) ? [] : [{ column, cell }],
  );
  return { place, rowId, edits };
}

function join(base: Rows, current: Rows, file: SheetRow[]): ThreeSides[] {
  const ids = new Set(file.flatMap(({ rowId }) => (typeof rowId === 'number' ? [rowId] : [])));
  const first = new Map<number, number>();
  const rows = file.map((each): ThreeSides => {
    if (typeof each.rowId !== 'number') return { rowId: null, base: null, current: null, file: compare(each, null) };
    const twin = first.get(each.rowId);
    first.set(each.rowId, twin ?? each.place);
    const sides = { rowId: each.rowId, base: base.get(each.rowId) ?? null, current: current.get(each.rowId) ?? null };
    const row = compare(each, sides.base);
    return { ...sides, file: twin === undefined ? row : { ...row, twin } };
  });
  const left = [...base.keys()].filter((id) => !ids.has(id));
  return [...rows, ...left.map((id) => ({ rowId: id, base: base.get(id) ?? null, current: current.get(id) ?? null, file: null }))];
}

function merge(base: Rows, current: Rows, file: SheetRow[], earlier: Cells[] = []) {
  const planner = new MergePlanner(columns, inFile, 0, earlier);
  for (const each of join(base, current, file)) planner.add(each);
  return planner.plan;
}

const at = (place: number, rowId: FileRow['rowId'], ...cells: (FileCell | null)[]): SheetRow => ({ place, rowId, cells });
const base: Rows = new Map([
  [1, row('007', '10')],
  [2, row('008', '20')],
]);
const untouched = [at(2, 1, text('007'), number(10)), at(3, 2, text('008'), number(20))];

describe('a merge', () => {
  it('of an export that nobody edited changes nothing', () => {
    expect(merge(base, base, untouched)).toEqual({ entries: [], conflicts: [], faults: [], unchanged: 2 });
  });

  it('takes rows in any order', () => {
    expect(merge(base, base, [...untouched].reverse()).entries).toEqual([]);
  });

  it('writes the cells that the file changed, and keeps the others as they are now', () => {
    const current: Rows = new Map([...base, [1, row('009', '10', 'new')]]);
    const { entries, conflicts } = merge(base, current, [at(2, 1, text('007'), number(11)), at(3, 2, text('008'), number(20))]);
    expect(entries).toEqual([{ rowId: 1, op: 'U', changed: [2], cells: row('009', '11', 'new'), before: { '2': '10' } }]);
    expect(conflicts).toEqual([]);
  });

  it('lets the file win where both changed a cell, and keeps what it replaced', () => {
    const current: Rows = new Map([...base, [1, row('007', '12')]]);
    const { entries, conflicts } = merge(base, current, [at(2, 1, text('007'), number(11)), at(3, 2, text('008'), number(20))]);
    expect(entries).toMatchObject([{ rowId: 1, changed: [2], before: { '2': '12' } }]);
    expect(conflicts).toEqual([{ rowId: 1, columnId: 2, base: '10', prior: '12', current: '11' }]);
  });

  it('finds no conflict where both sides made the same change', () => {
    const current: Rows = new Map([...base, [1, row('007', '11')]]);
    const plan = merge(base, current, [at(2, 1, text('007'), number(11)), at(3, 2, text('008'), number(20))]);
    expect(plan).toEqual({ entries: [], conflicts: [], faults: [], unchanged: 2 });
  });

  it('clears cells', () => {
    const { entries } = merge(base, base, [at(2, 1, null, number(10)), at(3, 2, text('008'), number(20))]);
    expect(entries).toEqual([{ rowId: 1, op: 'U', changed: [1], cells: row(null, '10'), before: { '1': '007' } }]);
  });

  it('adds rows without a row id, once for each copy, and leaves blank rows out', () => {
    const added = [...untouched, at(4, null, text('x'), null), at(5, null, text('x'), null), at(6, null, null, null)];
    const first = merge(base, base, added);
    expect(first.entries).toEqual([
      { rowId: -1, op: 'I', changed: [1], cells: row('x', null, null), before: null },
      { rowId: -2, op: 'I', changed: [1], cells: row('x', null, null), before: null },
    ]);
    const one = row('x', null, null);
    expect(merge(base, new Map([...base, [3, one]]), added, [one])).toMatchObject({ entries: [{ rowId: -1 }], unchanged: 3 });
    expect(merge(base, new Map([...base, [3, one], [4, one]]), added, [one, one])).toMatchObject({ entries: [], unchanged: 4 });
  });

  it('deletes rows that the file does not have any more', () => {
    const { entries, conflicts } = merge(base, base, untouched.slice(0, 1));
    expect(entries).toEqual([{ rowId: 2, op: 'D', changed: [1, 2, 3], cells: null, before: row('008', '20') }]);
    expect(conflicts).toEqual([]);
  });

  it('deletes a row that was edited meanwhile, with a conflict for the row', () => {
    const current: Rows = new Map([...base, [2, row('008', '21')]]);
    const { entries, conflicts } = merge(base, current, untouched.slice(0, 1));
    expect(entries).toMatchObject([{ rowId: 2, op: 'D', before: row('008', '21') }]);
    expect(conflicts).toEqual([{ rowId: 2, columnId: 0, base: '2', prior: '2', current: null }]);
  });

  it('brings a row back that was deleted meanwhile and edited in the file, with a conflict for the row', () => {
    const current: Rows = new Map([[1, row('007', '10')]]);
    const { entries, conflicts } = merge(base, current, [untouched[0] as SheetRow, at(3, 2, text('008'), number(21))]);
    expect(entries).toEqual([{ rowId: 2, op: 'I', changed: [1, 2, 3], cells: row('008', '21'), before: null }]);
    expect(conflicts).toEqual([{ rowId: 2, columnId: 0, base: '2', prior: null, current: '2' }]);
  });

  it('leaves a row deleted that was deleted meanwhile and not edited', () => {
    expect(merge(base, new Map([[1, row('007', '10')]]), untouched)).toMatchObject({ entries: [], conflicts: [] });
  });

  it('keeps rows that were added meanwhile', () => {
    expect(merge(base, new Map([...base, [3, row('new', '1')]]), untouched)).toMatchObject({ entries: [], conflicts: [] });
  });

  it.each<[what: string, row: SheetRow, name: string, why: RegExp]>([
    ['an unknown row id', at(4, 9, text('x'), null), '__svc_row_id', /names no row of the export/],
    ['a row id twice', at(4, 1, text('x'), null), '__svc_row_id', /row id of row 2 already/],
    ['a text for a row id', at(4, 'abc', text('x'), null), '__svc_row_id', /is no row id/],
    ['a value of another type', at(4, null, text('x'), { kind: 'text', text: 'many', fits: false }), 'amount', /whole number/],
    ['an error', at(4, null, text('x'), { kind: 'error', text: '#REF!', fits: false }), 'amount', /#REF!/],
  ])('reports %s by its row', (_, extra, name, why) => {
    const { faults } = merge(base, base, [...untouched, extra]);
    expect(faults).toEqual([{ place: 4, name, why: expect.stringMatching(why) }]);
  });

  it('lists no more than a hundred faults', () => {
    const many = Array.from({ length: 300 }, (_, i) => at(i + 4, 1000 + i, null, null));
    expect(merge(base, base, many).faults).toHaveLength(100);
  });
});

/** A cell of the file with what it means: nothing was edited, or the new value. */
type Doing = { edit: false } | { edit: true; value: string | null };
type RowDoing = { rowId: number; deleted: boolean; cells: [Doing, Doing] };

const anyCode = fc.constantFrom('007', '1.50', '12%', 'x', 'y ', '', null);
const anyAmount = fc.constantFrom('1', '2', '9007199254740993', null);
const anyRow = fc.tuple(anyCode, anyAmount, fc.constantFrom('h', 'i', null)).map((cells) => row(...cells));
const anyRows = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 8 }), anyRow), { selector: ([id]) => id, maxLength: 8 });
const doing = (value: fc.Arbitrary<string | null>): fc.Arbitrary<Doing> =>
  fc.oneof(
    fc.constant({ edit: false } as const),
    value.map((each) => ({ edit: true as const, value: each })),
  );
const anyCodeDoing = doing(fc.constantFrom('edited', 'other', null));
const anyAmountDoing = doing(fc.constantFrom('5', '6', null));

/** What a spreadsheet makes of a code that nobody edits. */
const excelCells: Record<string, FileCell | null> = {
  '007': number(7),
  '1.50': number(1.5),
  '12%': number(0.12),
  x: text('x'),
  'y ': text('y'),
  '': null,
};

const anyCase = anyRows.chain((baseRows) => {
  const ids = baseRows.map(([id]) => id);
  return fc.record({
    base: fc.constant(new Map(baseRows) as Rows),
    changes: fc.uniqueArray(fc.tuple(fc.constantFrom(...ids, 20, 21), fc.option(anyRow)), { selector: ([id]) => id, maxLength: 6 }),
    file: fc.tuple(
      ...ids.map((rowId) => fc.record({ rowId: fc.constant(rowId), deleted: fc.boolean(), cells: fc.tuple(anyCodeDoing, anyAmountDoing) })),
    ),
    added: fc.array(fc.tuple(fc.constantFrom('p', 'q', null), fc.constantFrom('5', null)), { maxLength: 3 }),
    seed: fc.integer(),
  });
});

const nothing = (value: string | null) => value === null || value.trim() === '';
const meansSame = (a: string | null, b: string | null) =>
  a === b || (nothing(a) && nothing(b)) || (a ?? '').trimEnd() === (b ?? '').trimEnd();

describe('any merge', () => {
  it('ends as a naive model says, with its conflicts, and changes nothing the second time', () => {
    fc.assert(
      fc.property(anyCase, ({ base: from, changes, file: doings, added, seed }) => {
        const current: Rows = new Map(from);
        for (const [id, cells] of changes) {
          if (cells) current.set(id, cells);
          else current.delete(id);
        }
        const rows = doings.filter(({ deleted }) => !deleted).map((each, i) => writeRow(from, each, i + 2));
        rows.push(...added.map(([a, b], i) => at(i + 50, null, a === null ? null : text(a), b === null ? null : number(Number(b)))));
        if (seed % 2 === 0) rows.reverse();

        const plan = merge(from, current, rows);
        expect(plan.faults).toEqual([]);
        const { rows: after, applied } = applyEntries(current, plan.entries);
        const model = mergeNaively(from, current, doings);
        const inserted = applied.filter(({ rowId }) => rowId >= 100);
        expect(inserted).toHaveLength(added.filter(([a, b]) => a !== null || b !== null).length);
        const kept = new Map([...after].filter(([id]) => id < 100));
        expect(kept).toEqual(model.rows);
        expect(plan.conflicts.map(({ rowId, columnId }) => `${rowId}/${columnId}`).sort()).toEqual(model.conflicts.sort());

        const earlier = inserted.map(({ cells }) => cells as Cells);
        expect(merge(from, after, rows, earlier)).toMatchObject({ entries: [], conflicts: [], faults: [], unchanged: expect.any(Number) });
      }),
      { numRuns: 10_000 },
    );
  });
});

function writeRow(from: Rows, { rowId, cells: [code, amount] }: RowDoing, place: number): SheetRow {
  const was = from.get(rowId) as Cells;
  const codeCell = code.edit ? (code.value === null ? null : text(code.value)) : was[1] === null ? null : excelCells[was[1] as string];
  const amountOf = (value: string | null) => (value === null ? null : number(Number(value)));
  return at(place, rowId, codeCell ?? null, amountOf(amount.edit ? amount.value : (was[2] ?? null)));
}

/** Cell by cell, from what was done rather than from what the file holds. */
function mergeNaively(from: Rows, current: Rows, doings: RowDoing[]): { rows: Rows; conflicts: string[] } {
  const rows: Rows = new Map(current);
  const conflicts: string[] = [];
  for (const { rowId, deleted, cells } of doings) {
    const was = from.get(rowId) as Cells;
    const now = current.get(rowId);
    const edits = cells.flatMap((each, i) =>
      each.edit && !meansSame(was[i + 1] ?? null, each.value) ? [{ id: i + 1, value: each.value }] : [],
    );
    if (deleted) {
      if (!now) continue;
      rows.delete(rowId);
      if (JSON.stringify(was) !== JSON.stringify(now)) conflicts.push(`${rowId}/0`);
    } else if (!now) {
      if (edits.length === 0) continue;
      rows.set(rowId, { ...was, ...Object.fromEntries(edits.map(({ id, value }) => [id, value])) });
      conflicts.push(`${rowId}/0`);
    } else {
      const next = { ...now };
      for (const { id, value } of edits) {
        if (meansSame(now[id] ?? null, value)) continue;
        next[id] = value;
        if (was[id] !== now[id]) conflicts.push(`${rowId}/${id}`);
      }
      rows.set(rowId, next);
    }
  }
  return { rows, conflicts };
}
