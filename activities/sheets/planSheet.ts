import { MAX_ROWS } from '../../core/a1/address.ts';
import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import { chooseColumns, findReferred, listTableRefs, type StoredBlock, splitLines } from '../../core/sheets/blocks.ts';
import { chooseLanguage } from '../../core/structuring/index.ts';
import type { VisibleTable } from '../../core/table/visibleTable.ts';
import type { SheetRecord } from '../../store/pg/sheets.ts';
import { listReferredTables } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import type { Projection } from '../../store/tables/projection.ts';
import type { CellLook } from '../../store/xlsx/write/styleTable.ts';
import { findNaming } from '../ingest/findNaming.ts';
import { openVisibleTable } from '../tables/openVisibleTable.ts';
import { openFresh } from '../transforms/refreshViews.ts';

/** What is written, from top to bottom. */
export type PlannedBlock =
  | { kind: 'text'; text: string; look: CellLook }
  | { kind: 'blank'; rows: number }
  | { kind: 'table'; projection: Projection; limit: number };

export interface PlannedSheet {
  blocks: PlannedBlock[];
  /** The tables that it shows, each once, with the columns that it shows of them and what policies hide of those. */
  shown: VisibleTable[];
}

const headingSizes = [18, 15, 13, 12, 11, 11];
const titleLook: CellLook = { bold: true };
const noteLook: CellLook = { italic: true, color: '#7F7F7F' };

/** Finds what a reader may see of the tables of a sheet, all as they are at one moment. */
export async function planSheet(services: Services, principal: Principal, sheet: SheetRecord): Promise<PlannedSheet> {
  const refs = listTableRefs(sheet.blocks);
  const found = await openFresh(services, principal.userId, () => listReferredTables(services.db.pool, sheet.workbookId, refs));
  const tables = new Map<string, VisibleTable>();
  for (const at of found) tables.set(at.table.id, await openVisibleTable(services, principal, at));
  const language = chooseLanguage(await findNaming(services.db.orm, sheet.workbookId), [sheet.name]);
  const notes = language === 'ja' ? japaneseNotes : englishNotes;
  const views = sheet.blocks.map((block) => {
    const visible = block.kind === 'table_view' ? tables.get(findReferred(found, block.table)?.table.id ?? '') : undefined;
    return { block, visible };
  });
  const blocks = views.flatMap(({ block, visible }) => planBlock(block, visible, notes));
  requireFits(sheet, blocks);
  return { blocks, shown: listShown(views) };
}

interface Notes {
  gone(table: string): string;
  noColumns(table: string): string;
}

const japaneseNotes: Notes = {
  gone: (table) => `表「${table}」は削除またはアーカイブされています`,
  noColumns: (table) => `表「${table}」に表示できる列がありません`,
};
const englishNotes: Notes = {
  gone: (table) => `The table ${table} is gone or archived`,
  noColumns: (table) => `The table ${table} has no columns to show`,
};

function planBlock(block: StoredBlock, visible: VisibleTable | undefined, notes: Notes): PlannedBlock[] {
  const asText = (text: string, look: CellLook): PlannedBlock[] => splitLines(text).map((line) => ({ kind: 'text', text: line, look }));
  switch (block.kind) {
    case 'heading':
      return asText(block.text, { bold: true, size: headingSizes[block.level - 1] ?? 11 });
    case 'text':
      return asText(block.text, {});
    case 'spacer':
      return [{ kind: 'blank', rows: block.rows }];
    case 'table_view': {
      const title = block.title === null ? [] : asText(block.title, titleLook);
      if (!visible) return [...title, ...asText(notes.gone(block.table.name), noteLook)];
      const columns = chooseColumns(block, visible.at.table.id, visible.columns);
      if (columns.length === 0) return [...title, ...asText(notes.noColumns(visible.at.table.name), noteLook)];
      const limit = Math.min(visible.at.rowCount, block.limit ?? visible.at.rowCount);
      return [...title, { kind: 'table', projection: { visible, columns }, limit }];
    }
  }
}

export function countRows(block: PlannedBlock): number {
  switch (block.kind) {
    case 'text':
      return 1;
    case 'blank':
      return block.rows;
    case 'table':
      return block.limit + 1;
  }
}

function requireFits({ name }: SheetRecord, blocks: PlannedBlock[]): void {
  const rows = blocks.reduce((sum, block) => sum + countRows(block), 0);
  if (rows <= MAX_ROWS) return;
  throw new DomainError(
    'too-large',
    `The sheet ${name} would have ${rows} rows; a sheet holds ${MAX_ROWS}.`,
    'Give its table views a limit, or export the tables as csv or parquet.',
  );
}

/** A column counts as denied where it would be shown otherwise. */
function listShown(views: { block: StoredBlock; visible: VisibleTable | undefined }[]): VisibleTable[] {
  const all = new Map<string, VisibleTable>();
  for (const { block, visible } of views) {
    if (block.kind !== 'table_view' || !visible) continue;
    const before = all.get(visible.at.table.id);
    const wanted = block.columns && new Set(block.columns.map(({ id }) => id));
    const columns = chooseColumns(block, visible.at.table.id, visible.columns);
    const effects = [...visible.effects].filter(([id]) => wanted === null || wanted.has(id));
    all.set(visible.at.table.id, {
      at: visible.at,
      columns: [...new Set([...(before?.columns ?? []), ...columns])],
      effects: new Map([...(before?.effects ?? []), ...effects]),
    });
  }
  return [...all.values()];
}
