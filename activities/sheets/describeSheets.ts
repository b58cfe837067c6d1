import type { Principal } from '../../core/access/principal.ts';
import { nearestName } from '../../core/cells/nearestName.ts';
import { notFound } from '../../core/errors.ts';
import { decodeCursor, type Page, type PageQuery, pageOf } from '../../core/paging.ts';
import { chooseColumns, findReferred, listTableRefs, type StoredBlock } from '../../core/sheets/blocks.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { VisibleColumn } from '../../core/table/visibleTable.ts';
import { findSheet, listSheets, type SheetRecord } from '../../store/pg/sheets.ts';
import { listReferredTables } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { openVisibleColumns } from '../tables/openVisibleTable.ts';

const usualSheets = 100;

export interface DescribedSheet {
  sheet: SheetRecord;
  /** Names of the tables that it shows, as they are called now. */
  tables: string[];
  /** Those of them that are gone or archived. */
  missing: string[];
}

/** The sheets of a workbook, by name. */
export async function pageSheets(services: Services, workbookId: string, query: PageQuery): Promise<Page<DescribedSheet>> {
  const after = decodeCursor(query.cursor, ['string']);
  const page = await pageOf(
    query.limit ?? usualSheets,
    (limit) => listSheets(services.db.orm, workbookId, after && (after[0] as string), limit),
    ({ name }) => [name.toLowerCase()],
  );
  const refs = listTableRefs(page.items.flatMap(({ blocks }) => blocks));
  const found = await listReferredTables(services.db.pool, workbookId, refs);
  return { ...page, items: page.items.map((sheet) => nameTables(sheet, found)) };
}

export async function requireSheet(services: Services, workbookId: string, name: string): Promise<SheetRecord> {
  const found = await findSheet(services.db.orm, workbookId, name);
  if (found) return found;
  const names = (await listSheets(services.db.orm, workbookId, null, 1000)).map((sheet) => sheet.name);
  const near = nearestName(name, names);
  throw notFound('sheet in this workbook', near ? `Did you mean ${near}?` : 'GET …/sheets lists the sheets of the workbook.');
}

/** A block as the reader may know it: its table by name, its columns by the names of those that the reader may see. */
export type ShownBlock =
  | Exclude<StoredBlock, { kind: 'table_view' }>
  | { kind: 'table_view'; table: string; columns: string[] | null; limit: number | null; title: string | null };

/** A sheet that was stored just now: all that it shows was found. */
export function describeStored(sheet: SheetRecord): DescribedSheet & { blocks: ShownBlock[] } {
  const blocks = sheet.blocks.map((block): ShownBlock => {
    if (block.kind !== 'table_view') return block;
    return { ...block, table: block.table.name, columns: block.columns?.map(({ name }) => name) ?? null };
  });
  return { sheet, tables: listTableRefs(sheet.blocks).map(({ name }) => name), missing: [], blocks };
}

export async function describeSheet(
  services: Services,
  principal: Principal,
  sheet: SheetRecord,
): Promise<DescribedSheet & { blocks: ShownBlock[] }> {
  const found = await listReferredTables(services.db.pool, sheet.workbookId, listTableRefs(sheet.blocks));
  const columns = new Map<string, VisibleColumn[]>();
  for (const at of found) columns.set(at.table.id, (await openVisibleColumns(services, principal, at)).columns);
  const blocks = sheet.blocks.map((block): ShownBlock => {
    if (block.kind !== 'table_view') return block;
    const at = findReferred(found, block.table);
    // The names of a lost table's columns are not told: who might know them cannot be asked any more.
    const shown = at && block.columns && chooseColumns(block, at.table.id, columns.get(at.table.id) ?? []);
    return { ...block, table: at?.table.name ?? block.table.name, columns: shown?.map(({ name }) => name) ?? null };
  });
  return { ...nameTables(sheet, found), blocks };
}

function nameTables(sheet: SheetRecord, found: TableAt[]): DescribedSheet {
  const named = listTableRefs(sheet.blocks).map((ref) => ({ at: findReferred(found, ref), ref }));
  return {
    sheet,
    tables: [...new Set(named.map(({ at, ref }) => at?.table.name ?? ref.name))],
    missing: [...new Set(named.filter(({ at }) => at === null).map(({ ref }) => ref.name))],
  };
}
