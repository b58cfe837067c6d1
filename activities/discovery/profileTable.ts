import type { VisibleTable } from '../../core/table/visibleTable.ts';
import type { Services } from '../../store/services.ts';
import { type ColumnProfile, profileColumns } from '../../store/tables/profileColumns.ts';

/** Limits of one query: DuckDB plans a wide table again for each of its columns. */
const slice = { cells: 5_000_000, columns: 25 };

/** Profiles every column that the caller may see. */
export async function profileTable(services: Services, visible: VisibleTable): Promise<ColumnProfile[]> {
  const width = Math.max(1, Math.min(slice.columns, Math.floor(slice.cells / Math.max(1, visible.at.rowCount))));
  const profiles: ColumnProfile[] = [];
  for (let first = 0; first < visible.columns.length; first += width)
    profiles.push(...(await profileColumns(services, { ...visible, columns: visible.columns.slice(first, first + width) })));
  return profiles;
}
