import type { LayeredEntry } from '../../core/table/log.ts';
import type { Cells, FileLayer, Layer, RowSelection, TableAt } from '../../core/table/table.ts';
import type { FoundRow } from '../../store/duckdb/findRows.ts';

/** Whether a layer could say anything of these rows. Only segments tell which they hold. */
export function mayHold(layer: Layer, wanted: RowSelection): boolean {
  if (layer.kind !== 'segment') return true;
  if ('ids' in wanted) return wanted.ids.some((id) => id >= layer.minRow && id <= layer.maxRow);
  return layer.minRow <= wanted.max && layer.maxRow >= wanted.min;
}

type FoundRows = Map<number, FoundRow>;

/**
 * What the layers of a version say of rows, null for one that is removed. From the last layer down: the first that knows a
 * row has the final word. `entries` are those of the log layers; files are looked into by the caller, who is told what is
 * settled already, and who gives all of it up by finding null.
 */
export async function settleRows(
  at: TableAt,
  entries: LayeredEntry[],
  lookInto: (layer: FileLayer, settled: ReadonlyMap<number, Cells | null>) => FoundRows | null | Promise<FoundRows | null>,
): Promise<Map<number, Cells | null> | null> {
  const settled = new Map<number, Cells | null>();
  const settle = (rowId: number, cells: Cells | null) => {
    if (!settled.has(rowId)) settled.set(rowId, cells);
  };
  for (const [index, layer] of [...at.layers.entries()].reverse()) {
    if (layer.kind === 'log') {
      for (const entry of entries) if (entry.layer === index) settle(entry.rowId, entry.cells);
      continue;
    }
    const found = await lookInto(layer, settled);
    if (!found) return null;
    for (const [rowId, row] of found) settle(rowId, row.removed ? null : row.cells);
  }
  return settled;
}
