import { MAX_ROWS } from '../../core/a1/address.ts';
import type { Principal } from '../../core/access/principal.ts';
import { nearestName } from '../../core/cells/nearestName.ts';
import { DomainError, describeFirst, type ProblemItem } from '../../core/errors.ts';
import { sheetPut } from '../../core/journal/sheetNotes.ts';
import { countFixedRows, type StoredBlock } from '../../core/sheets/blocks.ts';
import { describeUnknownColumn, findColumn } from '../../core/table/findColumn.ts';
import { findNameFault } from '../../core/table/nameFaults.ts';
import type { VisibleTable } from '../../core/table/visibleTable.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { type SheetRecord, upsertSheet } from '../../store/pg/sheets.ts';
import { listActiveNames, listNamedTables } from '../../store/pg/tables.ts';
import { makeId, type Services } from '../../store/services.ts';
import { openVisibleTable } from '../tables/openVisibleTable.ts';
import { requireFreeName } from '../tables/takenNames.ts';

const longestName = 200;

/** A block as it was asked for: tables and columns by name. */
export type WantedBlock =
  | { kind: 'heading'; text: string; level?: number }
  | { kind: 'text'; text: string }
  | { kind: 'spacer'; rows?: number }
  | { kind: 'table_view'; table: string; columns?: string[]; limit?: number; title?: string };

export interface WantedSheet {
  name: string;
  title: string | null;
  blocks: WantedBlock[];
}

export interface CheckedSheet {
  name: string;
  title: string | null;
  blocks: StoredBlock[];
}

/** Finds the tables and columns that the blocks name, or refuses with every fault and its pointer. */
export async function checkSheet(services: Services, principal: Principal, workbookId: string, wanted: WantedSheet): Promise<CheckedSheet> {
  const names = wanted.blocks.flatMap((block) => (block.kind === 'table_view' ? [block.table] : []));
  const tables: VisibleTable[] = [];
  for (const at of await listNamedTables(services.db, workbookId, names)) tables.push(await openVisibleTable(services, principal, at));
  const known =
    tables.length < new Set(names.map((name) => name.toLowerCase())).size ? await listActiveNames(services.db.keyed, workbookId) : [];
  const faults: ProblemItem[] = [];
  const nameFault = wanted.name.length > longestName ? `is longer than ${longestName} characters` : findNameFault(wanted.name);
  if (nameFault) faults.push({ pointer: '/path/name', detail: nameFault });
  const blocks = wanted.blocks.flatMap((block, i) => {
    const checked = checkBlock(block, `/spec/blocks/${i}`, tables, known);
    if ('faults' in checked) faults.push(...checked.faults);
    return 'block' in checked ? [checked.block] : [];
  });
  if (faults.length > 0)
    throw new DomainError('validation-failed', describeFirst(faults), 'Correct what `errors` lists.', { errors: faults.slice(0, 100) });
  if (blocks.reduce((sum, block) => sum + countFixedRows(block), 0) > MAX_ROWS)
    throw new DomainError('too-large', `The blocks take more than the ${MAX_ROWS} rows that a sheet holds.`, 'Make several sheets of it.');
  return { name: wanted.name, title: wanted.title, blocks };
}

type Checked = { block: StoredBlock } | { faults: ProblemItem[] };

function checkBlock(block: WantedBlock, pointer: string, tables: VisibleTable[], known: string[]): Checked {
  switch (block.kind) {
    case 'heading':
      return { block: { kind: block.kind, text: block.text, level: block.level ?? 1 } };
    case 'text':
      return { block: { kind: block.kind, text: block.text } };
    case 'spacer':
      return { block: { kind: block.kind, rows: block.rows ?? 1 } };
    case 'table_view': {
      const visible = tables.find(({ at }) => at.table.name.toLowerCase() === block.table.toLowerCase());
      if (!visible) return { faults: [{ pointer: `${pointer}/table`, detail: describeUnknownTable(block.table, known) }] };
      if (block.columns?.length === 0) return { faults: [{ pointer: `${pointer}/columns`, detail: 'names no column' }] };
      const found = block.columns?.map((name) => findColumn(visible.columns, name)) ?? null;
      const faults = (block.columns ?? []).flatMap((name, i): ProblemItem[] => {
        const column = found?.[i] ?? null;
        if (column === null) return [{ pointer: `${pointer}/columns/${i}`, detail: describeUnknownColumn(visible.columns, name) }];
        return found?.indexOf(column) === i ? [] : [{ pointer: `${pointer}/columns/${i}`, detail: 'is shown already' }];
      });
      if (faults.length > 0) return { faults };
      const { id, name } = visible.at.table;
      const columns = found?.flatMap((column) => (column ? [{ id: column.id, name: column.name }] : [])) ?? null;
      return { block: { kind: block.kind, table: { id, name }, columns, limit: block.limit ?? null, title: block.title ?? null } };
    }
  }
}

function describeUnknownTable(name: string, known: string[]): string {
  const near = nearestName(name, known);
  return near ? `is not an active table; did you mean ${near}?` : 'is not an active table of this workbook';
}

/** Creates the sheet, or replaces all of it. */
export async function putSheet(
  tx: Tx,
  workbook: { id: string; accountId: string },
  checked: CheckedSheet,
): Promise<{ sheet: SheetRecord; isNew: boolean }> {
  await requireFreeName(tx, workbook.id, checked.name, 'sheet');
  const put = await upsertSheet(tx, { id: makeId('sht'), workbookId: workbook.id, accountId: workbook.accountId, ...checked });
  tx.note(workbook.id, sheetPut(put.sheet, checked.blocks.length));
  return put;
}
