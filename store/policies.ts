import type { Principal } from '../core/access/principal.ts';
import type { ColumnRecord, TableRecord } from '../core/table/table.ts';
import type { ColumnEffect } from '../core/table/visibleTable.ts';

export interface Policies {
  /** Effects of the policies on a table's columns for a principal, by column id. Only `openVisibleTable` calls it. */
  columnEffects(principal: Principal, of: { table: TableRecord; columns: ColumnRecord[] }): Promise<ReadonlyMap<number, ColumnEffect>>;
  /** Whether any column policy exists in the workbook. */
  isGoverned(workbookId: string): Promise<boolean>;
}

/** Workbooks have no policies yet. */
export function openPolicies(): Policies {
  return { columnEffects: async () => new Map(), isGoverned: async () => false };
}
