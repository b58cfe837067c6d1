import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { DomainError } from '../../core/errors.ts';
import type { VisibleColumn } from '../../core/table/visibleTable.ts';
import { TextTooLong } from '../../store/xlsx/write/cellXml.ts';
import type { SheetColumn } from '../../store/xlsx/write/sheetWriter.ts';
import type { TableAnnotations } from './openAnnotations.ts';

/** Columns as they are written to a sheet. `isRaw`: texts as another sheet showed them, among them numbers. */
export function describeColumns(columns: VisibleColumn[], annotations: TableAnnotations, isRaw = false): SheetColumn[] {
  return columns.map((column) => ({
    name: column.name,
    type: parseColumnType(column.type) as ColumnType,
    note: annotations.noteOf(column),
    look: { ...(isRaw ? { numberFormat: 'General' } : {}), ...annotations.lookOf(column) },
    isRaw,
  }));
}

/** Says of a text that fits into no cell where it would stand; other errors stay as they are. */
export function explainLongText(error: unknown, sheet: string, suggestedFix: string): unknown {
  if (!(error instanceof TextTooLong)) return error;
  return new DomainError(
    'too-large',
    `The text that would stand in ${error.ref} of the sheet ${sheet} is longer than the 32,767 characters that a cell of a workbook holds.`,
    suggestedFix,
  );
}
