import { decodeIdCursor, type Page, type PageQuery, pageById, pageOf, usualLimit } from '../../core/paging.ts';
import type { TableRecord } from '../../core/table/table.ts';
import {
  type EditingSnapshot,
  findEditingSnapshot,
  listLabels,
  listNamedVersions,
  listSnapshots,
  listSnapshotTables,
  type NamedVersion,
  type SnapshotRecord,
  type SnapshotTable,
} from '../../store/pg/snapshots.ts';
import { listTables } from '../../store/pg/tables.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';

/** A snapshot with its tables: committed, or the one being edited. */
export type ListedSnapshot =
  | { snapshot: SnapshotRecord; tables: SnapshotTable[]; labels: string[] }
  | { editing: EditingSnapshot; tables: TableRecord[] };

/** Newest first. The editing snapshot is the newest, so it comes first on the first page and counts towards its limit. */
export async function pageSnapshots(services: Services, workbook: VisibleWorkbook, query: PageQuery): Promise<Page<ListedSnapshot>> {
  const { orm } = services.db;
  const limit = query.limit ?? usualLimit;
  const before = decodeIdCursor(query.cursor, 'snp');
  const editing = before === null ? await findEditingSnapshot(orm, workbook) : null;
  const page = await pageOf(
    limit,
    async (most): Promise<(SnapshotRecord | EditingSnapshot)[]> => {
      if (!editing) return listSnapshots(orm, { workbookId: workbook.id, before, limit: most });
      return [editing, ...(await listSnapshots(orm, { workbookId: workbook.id, before, limit: most - 1 }))];
    },
    (each) => [each.id],
  );
  const ids = page.items.map((each) => each.id);
  const [held, labels, current] = await Promise.all([
    listSnapshotTables(orm, ids),
    listLabels(orm, ids),
    editing ? listTables(orm, { workbookId: workbook.id, state: 'active' }) : [],
  ]);
  const byName = current.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const items = page.items.map((each) =>
    'committedAt' in each
      ? { snapshot: each, tables: held.get(each.id) ?? [], labels: labels.get(each.id) ?? [] }
      : { editing: each, tables: byName },
  );
  return { ...page, items };
}

/** A named version with its tables. */
export interface ListedVersion {
  version: NamedVersion;
  tables: SnapshotTable[];
}

export async function pageVersions(services: Services, workbookId: string, query: PageQuery): Promise<Page<ListedVersion>> {
  const page = await pageById(
    query,
    'snp',
    (before, limit) => listNamedVersions(services.db.orm, { workbookId, before, limit }),
    (version) => version.snapshotId,
  );
  return { ...page, items: await describeVersions(services, page.items) };
}

export async function describeVersions(services: Services, versions: NamedVersion[]): Promise<ListedVersion[]> {
  const held = await listSnapshotTables(
    services.db.orm,
    versions.map((version) => version.snapshotId),
  );
  return versions.map((version) => ({ version, tables: held.get(version.snapshotId) ?? [] }));
}
