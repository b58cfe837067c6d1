import { notFound } from '../../core/errors.ts';
import { isId } from '../../core/ids/ids.ts';
import type { TableAt } from '../../core/table/table.ts';
import { findNamedVersion, findVersionInSnapshot } from '../../store/pg/snapshots.ts';
import type { Services } from '../../store/services.ts';
import { requireTableAt } from '../tables/openTable.ts';

/**
 * The table at a version given by number, snapshot id or label. A label may look like a number: a number beyond the newest
 * version is tried as a label.
 */
export async function requireNamedVersion(services: Services, current: TableAt, text: string): Promise<TableAt> {
  const { orm } = services.db;
  const { workbookId, id: tableId } = current.table;
  if (/^\d{1,15}$/.test(text) && Number(text) >= 1 && Number(text) <= current.editVersion)
    return requireTableAt(services, current, Number(text));
  const snapshotId = isId(text, 'snp') ? text : (await findNamedVersion(orm, workbookId, text))?.snapshotId;
  const version = snapshotId === undefined ? undefined : await findVersionInSnapshot(orm, workbookId, snapshotId, tableId);
  if (version === undefined) {
    throw notFound(
      `version as ${text.slice(0, 100)}`,
      `Give an edit version up to ${current.editVersion}, a snapshot id or a version label.`,
    );
  }
  if (version === null) throw notFound('table in that snapshot', 'The table was made later, or deleted before.');
  return requireTableAt(services, current, version);
}
