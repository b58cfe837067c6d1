import type { Range } from '../../core/grid/grid.ts';
import { isId } from '../../core/ids/ids.ts';

/** The document property with the id of the branch that a workbook was exported for. */
export const branchProperty = 'svc_branch_id';

/** A hidden name for the first cell of a sheet, which says what branch and table it is of. It survives a renamed sheet. */
export function nameSheetMark(branchId: string, tableId: string): string {
  return `_svc.${branchId}.${tableId}`;
}

export interface SheetMark {
  branchId: string;
  tableId: string;
}

/** What branch and table a sheet is of, by the names that point into it. Null: it has no such name. */
export function findSheetMark(names: { name: string; range: Range }[]): SheetMark | null {
  for (const { name } of names) {
    const [prefix, branchId = '', tableId = ''] = name.split('.');
    if (prefix === '_svc' && isId(branchId, 'brn') && isId(tableId, 'tbl')) return { branchId, tableId };
  }
  return null;
}
