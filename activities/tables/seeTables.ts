import type { Principal } from '../../core/access/principal.ts';
import { type Page, type PageQuery, pageById } from '../../core/paging.ts';
import type { TableAt, TableRecord } from '../../core/table/table.ts';
import type { VisibleColumns, VisibleTable } from '../../core/table/visibleTable.ts';
import { type Freshness, fresh } from '../../core/transforms/transform.ts';
import { listColumnsAt } from '../../store/pg/columns.ts';
import type { Orm } from '../../store/pg/database.ts';
import { type LandingRecord, listLandings, type SourceRecord } from '../../store/pg/sources.ts';
import { listTables } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { findReportFreshness } from './findReportFreshness.ts';
import { findTransformsOf, type TransformOfTable } from './findTransformsOf.ts';
import { openVisibleColumns, openVisibleTable } from './openVisibleTable.ts';

/** A table's record and the columns that the principal may see. */
export interface SeenTable {
  table: TableRecord;
  seen: VisibleColumns;
  freshness: Freshness;
}

export async function seeTables(services: Services, principal: Principal, orm: Orm, tables: TableRecord[]): Promise<SeenTable[]> {
  const versions = new Map(tables.map((table) => [table.id, table.editVersion]));
  const [columns, transforms, reports] = await Promise.all([
    listColumnsAt(orm, versions),
    findTransformsOf(services, tables),
    findReportFreshness(services, tables),
  ]);
  return Promise.all(
    tables.map(async (table) => ({
      table,
      freshness: reports.get(table.id) ?? transforms.get(table.id)?.freshness ?? fresh,
      seen: await openVisibleColumns(services, principal, { table, columns: columns.get(table.id) ?? [] }),
    })),
  );
}

const usualTables = 100;

/** Tables of a workbook, oldest first. */
export async function pageTables(
  services: Services,
  principal: Principal,
  workbookId: string,
  query: PageQuery & { state?: 'active' | 'archived' },
): Promise<Page<SeenTable>> {
  const { orm } = services.db;
  const page = await pageById(
    { cursor: query.cursor, limit: query.limit ?? usualTables },
    'tbl',
    (after, limit) => listTables(orm, { workbookId, state: query.state, after, limit }),
    (table) => table.id,
  );
  return { ...page, items: await seeTables(services, principal, orm, page.items) };
}

export interface DescribedTable {
  visible: VisibleTable;
  /** Where its first rows came from; later rows may come from elsewhere. */
  origin: (LandingRecord & { source: SourceRecord }) | null;
  transform: TransformOfTable | null;
  freshness: Freshness;
}

export async function describeTable(services: Services, principal: Principal, at: TableAt): Promise<DescribedTable> {
  const [landings, visible, transforms, reports] = await Promise.all([
    listLandings(services.db.orm, [at.table.id]),
    openVisibleTable(services, principal, at),
    findTransformsOf(services, [at.table]),
    findReportFreshness(services, [at.table]),
  ]);
  const transform = transforms.get(at.table.id) ?? null;
  return { visible, origin: landings.at(-1) ?? null, transform, freshness: reports.get(at.table.id) ?? transform?.freshness ?? fresh };
}
