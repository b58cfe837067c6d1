import { estimateRowBytes } from '../../core/table/rowBytes.ts';
import type { VisibleTable } from '../../core/table/visibleTable.ts';
import type { Services } from '../../store/services.ts';
import { type ColumnProfile, profileColumns } from '../../store/tables/profileColumns.ts';

/** Limits of what is loaded at a time. */
const slice = { cells: 5_000_000, bytes: 64 * 1024 * 1024, columns: 250 };

/** Profiles every column that the caller may see. */
export async function profileTable(services: Services, visible: VisibleTable): Promise<ColumnProfile[]> {
  const { at, columns } = visible;
  const rows = Math.max(1, at.rowCount);
  const columnBytes = estimateRowBytes(at, columns) / Math.max(1, columns.length);
  const width = Math.max(1, Math.floor(Math.min(slice.columns, slice.cells / rows, slice.bytes / (rows * columnBytes))));
  const profiles: ColumnProfile[] = [];
  for (let first = 0; first < columns.length; first += width)
    profiles.push(...(await profileColumns(services, { ...visible, columns: columns.slice(first, first + width) })));
  return profiles;
}
