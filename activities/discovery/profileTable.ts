import type { VisibleTable } from '../../core/table/visibleTable.ts';
import type { Services } from '../../store/services.ts';
import { type ColumnProfile, profileColumns } from '../../store/tables/profileColumns.ts';

/** So many cells are looked at at a time, of at most so many columns: an engine plans a wide table anew for each column of it. */
const slice = { cells: 5_000_000, columns: 25 };

/** Figures of every column that the caller may see. */
export async function profileTable(services: Services, visible: VisibleTable): Promise<ColumnProfile[]> {
  const width = Math.max(1, Math.min(slice.columns, Math.floor(slice.cells / Math.max(1, visible.at.rowCount))));
  const profiles: ColumnProfile[] = [];
  for (let first = 0; first < visible.columns.length; first += width)
    profiles.push(...(await profileColumns(services, { ...visible, columns: visible.columns.slice(first, first + width) })));
  return profiles;
}
