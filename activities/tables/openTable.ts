import type { Principal } from '../../core/access/principal.ts';
import { nearestName } from '../../core/cells/nearestName.ts';
import { DomainError, notFound } from '../../core/errors.ts';
import { buildRelation, type ColumnEffect, type LayeredEntry, type RowSelection } from '../../store/duckdb/buildRelation.ts';
import type { Relation } from '../../store/duckdb/relation.ts';
import { findNewestEntries, listNewestEntries } from '../../store/pg/rowLog.ts';
import { findCurrentTable, findTableAt, listTables, type TableAt } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { columnEffects } from '../governance/columnEffects.ts';

/** The table by name as it is now, or a 404 that names the nearest one. An active one hides an archived one of its name. */
export async function requireTable(
  services: Services,
  workbookId: string,
  name: string,
  preferred: 'active' | 'archived' = 'active',
): Promise<TableAt> {
  const at = await findCurrentTable(services.db.pool, workbookId, name, preferred);
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
  const at = await findTableAt(services.db.orm, current.table, editVersion);
  if (!at)
    throw new DomainError(
      'expired',
      `Version ${editVersion} of the table is not kept any more.`,
      'Versions that nothing refers to are kept for 30 days; commit a version to keep one.',
    );
  return at;
}

/** Everything that reads a table's content reads it through this. */
export async function openRelation(
  services: Services,
  at: TableAt,
  principal: Principal,
  selection: RowSelection | null = null,
): Promise<Relation> {
  const effects = await columnEffects(services, principal, at);
  return buildRelation(at, await readLogLayers(services, at, selection), effects, selection);
}

/** For the service itself: edits and transforms read what is stored, whoever asked for them. */
export async function openUnmasked(services: Services, at: TableAt, selection: RowSelection | null = null): Promise<Relation> {
  return buildRelation(at, await readLogLayers(services, at, selection), new Map<number, ColumnEffect>(), selection);
}

/** The newest entry of each row over all log layers, a later layer winning. */
export async function readLogLayers(services: Services, at: TableAt, selection: RowSelection | null): Promise<LayeredEntry[]> {
  const newest = new Map<number, LayeredEntry>();
  for (const [index, layer] of at.layers.entries()) {
    if (layer.kind !== 'log') continue;
    const upTo = Math.min(layer.upTo ?? at.editVersion, at.editVersion);
    if (upTo <= layer.after) continue;
    const rows =
      selection && 'ids' in selection
        ? await findNewestEntries(services.db.pool, at.table.id, selection.ids, layer.after, upTo)
        : await listNewestEntries(services.db.pool, at.table.id, layer.after, upTo);
    for (const row of rows) newest.set(row.rowId, { ...row, layer: index });
  }
  return [...newest.values()];
}
