import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CastRow } from '../../../core/table/casting.ts';
import { planDelete, planUpsert } from '../../../core/table/planRows.ts';
import type { Cells } from '../../../core/table/table.ts';
import { anyStored, anyUpsert, applyEntries, columns } from './anyEdit.ts';
import { makeAt, makeColumn } from './makeTable.ts';

const at = makeAt({ columns });
const stored = new Map<number, Cells>([[1, { '1': 'a', '2': 'b', '3': null }]]);

describe('an upsert', () => {
  it('has whole rows after the change, and what changed', () => {
    const rows: CastRow[] = [
      { rowId: 1, cells: { '1': 'a', '2': 'x' }, given: [1, 2] },
      { rowId: null, cells: { '3': 'c' }, given: [3] },
    ];
    expect(planUpsert(at, rows, stored, { range: 'A2' })).toEqual({
      kind: 'planned',
      edit: {
        at,
        rowIds: [1, -1],
        plan: {
          kind: 'rows.upsert',
          inserted: 1,
          updated: 1,
          deleted: 0,
          entries: [
            { rowId: 1, op: 'U', changed: [2], cells: { '1': 'a', '2': 'x', '3': null }, before: { '2': 'b' } },
            { rowId: -1, op: 'I', changed: [3], cells: { '1': null, '2': null, '3': 'c' }, before: null },
          ],
          layers: null,
          schemaChanged: false,
          detail: { range: 'A2' },
        },
      },
    });
  });

  it('does not take another text of the same number for a change', () => {
    const numbers = makeAt({ columns: [makeColumn(1, 'n', 'DOUBLE')] });
    const plan = planUpsert(numbers, [{ rowId: 1, cells: { '1': '1.0' }, given: [1] }], new Map([[1, { '1': '1' }]]));
    expect(plan.kind === 'planned' && plan.edit.plan.entries).toMatchObject([{ changed: [], before: {} }]);
  });

  it('tells the places of rows that do not exist', () => {
    const row = (rowId: number | null) => ({ rowId, cells: {}, given: [] });
    expect(planUpsert(at, [row(9), row(null), row(1), row(8)], stored)).toEqual({ kind: 'missing', places: [0, 3] });
  });

  it('leaves the rows as a plain map would have them', () => {
    fc.assert(
      fc.property(
        anyStored.chain((rows) => fc.tuple(fc.constant(rows), anyUpsert(rows))),
        ([rows, upsert]) => {
          const plan = planUpsert(at, upsert, rows);
          if (plan.kind !== 'planned') throw new Error('rows are missing');
          const expected = new Map(rows);
          let next = 100;
          for (const { rowId, cells } of upsert) {
            const id = rowId ?? next++;
            expected.set(id, { '1': null, '2': null, '3': null, ...expected.get(id), ...cells });
          }
          const { plan: edit, rowIds } = plan.edit;
          expect(applyEntries(rows, edit.entries).rows).toEqual(expected);
          expect(edit.inserted).toBe(upsert.filter(({ rowId }) => rowId === null).length);
          expect(edit.inserted + edit.updated).toBe(upsert.length);
          expect(rowIds).toEqual(edit.entries.map(({ rowId }) => rowId));
          for (const { rowId, op, changed, cells, before } of edit.entries) {
            if (op !== 'U') continue;
            expect(changed.map(String)).toEqual(Object.keys(before ?? {}));
            expect({ ...cells, ...before }).toEqual(rows.get(rowId));
          }
        },
      ),
    );
  });
});

describe('a delete', () => {
  it('keeps what the row was; a row that is named twice goes once', () => {
    const plan = planDelete(at, [1, 1], stored);
    expect(plan).toMatchObject({
      kind: 'planned',
      edit: { rowIds: [1], plan: { kind: 'rows.delete', inserted: 0, updated: 0, deleted: 1 } },
    });
    expect(plan.kind === 'planned' && plan.edit.plan.entries).toEqual([
      { rowId: 1, op: 'D', changed: [1, 2, 3], cells: null, before: stored.get(1) },
    ]);
  });

  it('tells the places of rows that do not exist', () => {
    expect(planDelete(at, [2, 1, 2], stored)).toEqual({ kind: 'missing', places: [0, 2] });
  });
});
