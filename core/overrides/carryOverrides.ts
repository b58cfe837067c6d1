import { sameValue } from '../cells/castValue.ts';
import { type ColumnType, parseColumnType } from '../cells/columnTypes.ts';
import type { Cells } from '../table/table.ts';
import type { Override } from './override.ts';

/** What a run does to the overrides on its output. Those that are in neither list stay as they are. */
export interface CarriedOverrides {
  /** The value below is another now. They stay on top, and are conflicts. */
  moved: { override: Override; below: string | null }[];
  /** The row or the column is not in the output any more: they end, and are conflicts. */
  gone: Override[];
}

/** `results`: what the run gave for the overridden columns of overridden rows. `columns`: those of the new output. */
export function carryOverrides(
  overrides: readonly Override[],
  results: ReadonlyMap<number, Cells>,
  columns: readonly { id: number; type: string }[],
): CarriedOverrides {
  const types = new Map(columns.map(({ id, type }) => [id, parseColumnType(type) as ColumnType]));
  const carried: CarriedOverrides = { moved: [], gone: [] };
  for (const override of overrides) {
    const row = results.get(override.rowId);
    const type = types.get(override.columnId);
    if (!row || !type) {
      carried.gone.push(override);
      continue;
    }
    const below = row[override.columnId] ?? null;
    if (!sameValue(type, below, override.below)) carried.moved.push({ override, below });
  }
  return carried;
}
