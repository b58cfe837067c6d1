import type { TableAt } from '../../core/table/table.ts';
import { listColumnsAt } from '../../store/pg/columns.ts';
import type { Orm } from '../../store/pg/database.ts';
import { type LandedTable, listLanded } from '../../store/pg/sources.ts';
import type { ColumnsBefore } from './matchColumns.ts';

/** Tables made from the source, without those that its rows were appended to. */
export async function listMadeTables(orm: Orm, sourceId: string): Promise<LandedTable[]> {
  return (await listLanded(orm, [sourceId])).filter(({ landing }) => landing.role !== 'appended');
}

export const isEdited = ({ landing, table }: LandedTable) => table.editVersion !== landing.editVersion;

/** The columns of a table under the names that they had when its file landed: people may have renamed them since. */
export async function nameAsLanded(orm: Orm, { table, columns }: TableAt, landed: LandedTable[]): Promise<ColumnsBefore> {
  const own = landed.find(({ landing }) => landing.tableId === table.id && landing.role !== 'appended');
  const before = own && (await listColumnsAt(orm, new Map([[table.id, own.landing.editVersion]]))).get(table.id);
  const names = new Map(before?.map(({ id, name }) => [id, name]));
  return {
    table: { nextColumnId: table.nextColumnId },
    columns: columns.map(({ id, name, type }) => ({ id, name: names.get(id) ?? name, type })),
  };
}
