import type { Principal } from '../../core/access/principal.ts';
import { nearestName } from '../../core/cells/nearestName.ts';
import { DomainError, notFound } from '../../core/errors.ts';
import type { RowSelection, TableAt } from '../../core/table/table.ts';
import { rowIdField, seeEverything, type VisibleColumn, type VisibleTable } from '../../core/table/visibleTable.ts';
import { buildRelation } from '../../store/duckdb/buildRelation.ts';
import type { Relation } from '../../store/duckdb/relation.ts';
import { findCurrentTable, findTableAt, listTables } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { openVisibleTable } from './openVisibleTable.ts';
import { readTail } from './readLayers.ts';

/** The table by name or id as it is now, or a 404 that names the nearest one. By name an active one hides archived ones. */
export async function requireTable(
  services: Services,
  workbookId: string,
  name: string,
  preferred: 'active' | 'archived' = 'active',
): Promise<TableAt> {
  const at = await findCurrentTable(services.db, workbookId, name, preferred);
  if (at) return at;
  const names = (await listTables(services.db.orm, { workbookId, limit: 1000 })).map((table) => table.name);
  const near = nearestName(name, names);
  throw notFound('table in this workbook', near ? `Did you mean ${near}?` : 'GET …/tables lists the tables of the workbook.');
}

/** The table at an older version: 410 when it is gone, 404 when it never was. */
export async function requireTableAt(services: Services, current: TableAt, editVersion: number): Promise<TableAt> {
  if (editVersion === current.editVersion) return current;
  if (editVersion > current.editVersion || editVersion < 1)
    throw notFound(`version ${editVersion} of the table`, `Its versions go up to ${current.editVersion}.`);
  const at = await findTableAt(services.db.pool, current.table, editVersion);
  if (!at)
    throw new DomainError(
      'expired',
      `Version ${editVersion} of the table is not kept any more.`,
      'Versions that nothing refers to are kept for 30 days; commit a version to keep one.',
    );
  return at;
}

/** Everything that reads a table's content reads it through this. */
export async function openRelation(services: Services, visible: VisibleTable, selection: RowSelection | null = null): Promise<Relation> {
  return buildRelation(visible, await readTail(services, visible, selection), selection);
}

/** For the service itself: edits and transforms read what is stored, whoever asked for them. */
export async function openUnmasked(services: Services, at: TableAt, selection: RowSelection | null = null): Promise<Relation> {
  return openRelation(services, seeEverything(at), selection);
}

/** What the principal sees of the columns, in order; the last is the row id. */
export async function describeRelation(services: Services, at: TableAt, principal: Principal): Promise<VisibleColumn[]> {
  return [...(await openVisibleTable(services, principal, at)).columns, rowIdField];
}
