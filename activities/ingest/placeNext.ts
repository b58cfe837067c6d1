import type { ColumnRecord, TableAt } from '../../core/table/table.ts';
import { makeId } from '../../store/services.ts';
import type { WrittenTable } from './landTables.ts';

/** The table as it lands, before edits are carried over. */
export function placeNext(current: TableAt, written: WrittenTable, columns: ColumnRecord[]): TableAt {
  const editVersion = current.editVersion + 1;
  const layers = [...written.layers, { kind: 'log' as const, after: editVersion, upTo: null }];
  return { ...current, editVersion, versionUid: makeId('ver'), columns, layers, rowCount: written.rowCount };
}

export function nameFileColumns({ columns }: WrittenTable): ColumnRecord[] {
  return columns.map((column) => ({ ...column, defaultText: null, description: null }));
}
