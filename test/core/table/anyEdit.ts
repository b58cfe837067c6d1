import fc from 'fast-check';
import type { CastRow } from '../../../core/table/casting.ts';
import { fillDefaults } from '../../../core/table/cells.ts';
import type { LogEntry } from '../../../core/table/log.ts';
import type { Cells } from '../../../core/table/table.ts';
import { anyCell, makeColumn } from './makeTable.ts';

export const columns = [makeColumn(1), makeColumn(2), makeColumn(3)];

/** A table's rows as a plain map. */
export type Rows = Map<number, Cells>;

const anyRowId = fc.integer({ min: 1, max: 6 });
const anyCells = fc.dictionary(fc.constantFrom('1', '2', '3'), anyCell);

export const anyStored: fc.Arbitrary<Rows> = fc
  .uniqueArray(fc.tuple(anyRowId, anyCells), { selector: ([id]) => id })
  .map((rows) => new Map(rows.map(([id, cells]) => [id, fillDefaults(columns, cells)])));

const asRow = (rowId: number | null, cells: Cells): CastRow => ({ rowId, cells, given: Object.keys(cells).map(Number) });

/** An upsert of rows that exist, and of new ones. */
export const anyUpsert = (stored: Rows): fc.Arbitrary<CastRow[]> =>
  fc
    .tuple(fc.subarray([...stored.keys()]), fc.array(anyCells, { maxLength: 3 }))
    .chain(([ids, fresh]) =>
      fc
        .tuple(...ids.map((id) => anyCells.map((cells) => asRow(id, cells))))
        .map((updates) => [...updates, ...fresh.map((cells) => asRow(null, cells))]),
    );

/** What the log says, done: new rows get the next ids. */
export function applyEntries(rows: Rows, entries: LogEntry[], nextRowId = 100): { rows: Rows; applied: LogEntry[] } {
  const after = new Map(rows);
  const applied = entries.map((entry) => (entry.rowId < 0 ? { ...entry, rowId: nextRowId - entry.rowId - 1 } : entry));
  for (const { rowId, cells } of applied) {
    if (cells) after.set(rowId, cells);
    else after.delete(rowId);
  }
  return { rows: after, applied };
}
