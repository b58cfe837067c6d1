import { notFound } from '../../core/errors.ts';
import { isId } from '../../core/ids/ids.ts';
import type { TableAt } from '../../core/table/table.ts';
import { findNamedVersion, findSnapshot, listSnapshotTables, type SnapshotTable } from '../../store/pg/snapshots.ts';
import { listTablesAt } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';

/** A past state of a workbook: the version of every table by id, from a snapshot. */
export interface ResolvedAt {
  snapshotId: string;
  tables: Map<string, SnapshotTable>;
}

/** Resolves a version label or snapshot id; 404 if it is neither. */
export async function resolveAt(services: Services, workbookId: string, text: string): Promise<ResolvedAt> {
  const { orm } = services.db;
  const snapshotId = isId(text, 'snp')
    ? (await findSnapshot(orm, workbookId, text))?.id
    : (await findNamedVersion(orm, workbookId, text))?.snapshotId;
  if (!snapshotId)
    throw notFound('version or committed snapshot in this workbook', 'GET …/versions and …/snapshots list what can be read at.');
  const held = (await listSnapshotTables(orm, [snapshotId])).get(snapshotId) ?? [];
  return { snapshotId, tables: new Map(held.map((table) => [table.tableId, table])) };
}

/** The tables active then, under their names of that time, including tables deleted since. */
export async function openTablesAt(services: Services, resolved: ResolvedAt, names: string[] | null = null): Promise<TableAt[]> {
  const wanted = names && new Set(names.map((name) => name.toLowerCase()));
  const held = [...resolved.tables.values()].filter(
    (table) => table.state === 'active' && (wanted === null || wanted.has(table.name.toLowerCase())),
  );
  return (await listTablesAt(services.db.pool, held)).map((at) => {
    const { name, description } = resolved.tables.get(at.table.id) as SnapshotTable;
    return { ...at, table: { ...at.table, name, description } };
  });
}

/** One of these tables, by its name of that time or by id; 404 if it did not exist. */
export async function requirePastTable(services: Services, resolved: ResolvedAt, name: string): Promise<TableAt> {
  const asked = resolved.tables.get(name)?.name ?? name;
  const found = await openTablesAt(services, resolved, [asked]);
  const at = found.find(({ table }) => table.name === asked) ?? found[0];
  if (at) return at;
  throw notFound(
    'table in that version or snapshot',
    'GET …/versions/{label} lists the tables of a version, GET …/snapshots those of all.',
  );
}
