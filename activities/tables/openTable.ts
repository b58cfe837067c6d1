import { nearestName } from '../../core/cells/nearestName.ts';
import { DomainError, notFound } from '../../core/errors.ts';
import type { TableAt } from '../../core/table/table.ts';
import { findCurrentTable, findTableAt, listTables } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';

/**
 * The current table by name or id, or a 404 that suggests the nearest name. Active tables are found before archived ones of the
 * same name.
 */
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

/** The table at an older version: 410 if it was removed, 404 if it never existed. */
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
