import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { carryOverrides } from '../../../core/overrides/carryOverrides.ts';
import { cellKey, type Override } from '../../../core/overrides/override.ts';
import { planOverrides } from '../../../core/overrides/planOverrides.ts';
import { undoOverrides } from '../../../core/overrides/undoOverrides.ts';
import type { LogEntry } from '../../../core/table/log.ts';
import { planUpsert } from '../../../core/table/planRows.ts';
import type { Cells } from '../../../core/table/table.ts';
import { makeAt, makeColumn } from '../table/makeTable.ts';

const columns = [makeColumn(1, 'shop'), makeColumn(2, 'sum', 'DOUBLE'), makeColumn(3, 'note')];
const update = (changed: number[], cells: Cells, before: Cells): LogEntry => ({ rowId: 5, op: 'U', changed, cells, before });
const overrideOf = (columnId: number, value: string | null, below: string | null): Override => ({ rowId: 5, columnId, value, below });

describe('an edit of a derived table', () => {
  const cells = { '1': 'a', '2': '9', '3': 'n' };
  it.each([
    ['a cell of the run', [2], { '2': '1' }, [], { set: [overrideOf(2, '9', '1')], dropped: [] }],
    ['nothing', [], {}, [], { set: [], dropped: [] }],
    ['two cells', [2, 3], { '2': '1', '3': null }, [], { set: [overrideOf(2, '9', '1'), overrideOf(3, 'n', null)], dropped: [] }],
    ['an override', [2], { '2': '8' }, [overrideOf(2, '8', '1')], { set: [overrideOf(2, '9', '1')], dropped: [] }],
    ['an override, back to the value below', [2], { '2': '8' }, [overrideOf(2, '8', '9')], { set: [], dropped: [overrideOf(2, '9', '9')] }],
    [
      'an override, back in another spelling',
      [2],
      { '2': '8' },
      [overrideOf(2, '8', '9.0')],
      { set: [], dropped: [overrideOf(2, '9', '9.0')] },
    ],
  ] as [string, number[], Cells, Override[], object][])('of %s', (_, changed, before, live, changes) => {
    expect(planOverrides(columns, [1], [update(changed, cells, before)], live)).toEqual({ kind: 'planned', changes });
  });

  it.each([
    ['a new row', { ...update([2], cells, {}), op: 'I' as const }, { kind: 'rows' }],
    ['a row that goes', { ...update([2], cells, {}), op: 'D' as const }, { kind: 'rows' }],
    ['a key column', update([1, 2], cells, { '1': 'b', '2': '1' }), { kind: 'key', columns: [columns[0]] }],
  ])('is refused for %s', (_, entry, expected) => {
    expect(planOverrides(columns, [1], [entry], [])).toEqual(expected);
  });
});

describe('a run', () => {
  const override = overrideOf(2, '9', '1');
  it.each([
    ['the same value', { '2': '1' }, columns, { moved: [], gone: [] }],
    ['the same number in another spelling', { '2': '1.0' }, columns, { moved: [], gone: [] }],
    ['another value', { '2': '2' }, columns, { moved: [{ override, below: '2' }], gone: [] }],
    ['no value', { '2': null }, columns, { moved: [{ override, below: null }], gone: [] }],
    ['the value of the override', { '2': '9' }, columns, { moved: [{ override, below: '9' }], gone: [] }],
    ['no such row', null, columns, { moved: [], gone: [override] }],
    ['no such column', { '2': '1' }, columns.slice(0, 1), { moved: [], gone: [override] }],
  ] as [string, Cells | null, typeof columns, object][])('that gives %s', (_, row, now, expected) => {
    expect(carryOverrides([override], new Map(row ? [[5, row]] : []), now)).toEqual(expected);
  });
});

describe('an op that is undone', () => {
  const entry = update([2], { '2': '9' }, { '2': '1' });
  it.each([
    ['goes back to the run as it is now', [], [overrideOf(2, '9', '4')], { '2': '4' }],
    ['goes back to the override before', [{ rowId: 5, columnId: 2 }], [overrideOf(2, '9', '4')], { '2': '1' }],
    ['that took an override away brings it back', [{ rowId: 5, columnId: 2 }], [], { '2': '1' }],
  ] as [string, { rowId: number; columnId: number }[], Override[], Cells][])('%s', (_, before, live, back) => {
    expect(undoOverrides([entry], before, live)).toEqual([{ ...entry, before: back }]);
  });
});

describe('runs and edits in any order', () => {
  const rowIds = [1, 2, 3];
  const anyText = fc.constantFrom('1', '2', '3', null);
  const anyRun = fc.record({ run: fc.dictionary(fc.constantFrom('1', '2', '3'), fc.record({ '2': anyText, '3': anyText })) });
  const anyEdit = fc.record({ rowId: fc.constantFrom(...rowIds), columnId: fc.constantFrom(2, 3), value: anyText });

  /** What a person would say: each cell by itself. */
  interface Cell {
    run: string | null;
    override?: { value: string | null; since: string | null };
  }

  it('show the override where there is one, else the run; conflicts are where the run moved since', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(anyRun, anyEdit), { maxLength: 20 }), (steps) => {
        const model = new Map<string, Cell>();
        let rows = new Map<number, Cells>();
        let live: Override[] = [];
        for (const step of steps) {
          if ('run' in step) {
            const results = new Map(Object.entries(step.run).map(([id, cells]) => [Number(id), cells as Cells]));
            const { moved, gone } = carryOverrides(live, results, columns);
            const conflicts = [...moved.map(({ override }) => override), ...gone].map(cellKey).sort();
            const expected = [...model].flatMap(([key, { override }]) => {
              const [id, column] = key.split(' ');
              const row = results.get(Number(id));
              if (!row) model.delete(key);
              else model.set(key, { run: row[column as string] ?? null, ...(override && { override }) });
              const isMoved = override && (!row || row[column as string] !== override.since);
              if (isMoved && row)
                model.set(key, { run: row[column as string] ?? null, override: { ...override, since: row[column as string] ?? null } });
              return isMoved ? [key] : [];
            });
            expect(conflicts).toEqual(expected.sort());
            live = live
              .filter((override) => !gone.includes(override))
              .map((override) => {
                const change = moved.find(({ override: old }) => cellKey(old) === cellKey(override));
                return change ? { ...override, below: change.below } : override;
              });
            rows = new Map([...results].map(([id, cells]) => [id, { '1': String(id), ...cells }]));
            for (const { rowId, columnId, value } of live) rows.set(rowId, { ...rows.get(rowId), [columnId]: value });
            for (const [id, cells] of results)
              for (const column of [2, 3]) {
                const key = cellKey({ rowId: id, columnId: column });
                if (!model.has(key)) model.set(key, { run: cells[column] ?? null });
              }
          } else {
            const { rowId, columnId, value } = step;
            const plan = planUpsert(makeAt({ columns }), [{ rowId, cells: { [columnId]: value }, given: [columnId] }], rows);
            if (plan.kind === 'missing') continue;
            const { entries } = plan.edit.plan;
            const planned = planOverrides(columns, [1], entries, live);
            if (planned.kind !== 'planned') throw new Error(planned.kind);
            const touched = new Set([...planned.changes.set, ...planned.changes.dropped].map(cellKey));
            live = [...live.filter((override) => !touched.has(cellKey(override))), ...planned.changes.set];
            for (const entry of entries) rows.set(entry.rowId, entry.cells as Cells);
            const cell = model.get(cellKey(step)) as Cell;
            const shown = cell.override ? cell.override.value : cell.run;
            if (value !== shown)
              model.set(cellKey(step), value === cell.run ? { run: cell.run } : { run: cell.run, override: { value, since: cell.run } });
          }
          for (const [key, { run, override }] of model) {
            const [id, column] = key.split(' ');
            expect(rows.get(Number(id))?.[column as string] ?? null).toBe(override ? override.value : run);
          }
          expect(live.map(cellKey).sort()).toEqual([...model].flatMap(([key, { override }]) => (override ? [key] : [])).sort());
        }
      }),
      { numRuns: 300 },
    );
  });
});
