import { nameColumn } from '../../../core/a1/address.ts';
import type { ColumnType } from '../../../core/cells/columnTypes.ts';
import { isFormulaLike } from '../../../core/cells/csvText.ts';
import { type ByteBatch, type ByteColumn, isValid, readByteText } from '../../../core/table/textBatch.ts';
import { chooseStyles } from './cellLooks.ts';
import { type CellForm, makeForm, putByteCell, putCell, putEmpty, putFormula, putText } from './cellXml.ts';
import { type CellNote, mostNotes } from './notes.ts';
import { type CellLook, type StyleTable, usualSize } from './styleTable.ts';
import type { XmlBuffer } from './xmlBuffer.ts';

export interface SheetColumn {
  name: string;
  type: ColumnType;
  /** Wished for all cells of the column, but not its header. */
  look?: CellLook;
  /** Texts as a sheet showed them, among them numbers, which shall be numbers. */
  isRaw?: boolean;
  /** On its header. */
  note?: string;
}

/** What is special about a cell. */
export interface CellExtra {
  /** On top of the column's. */
  look?: CellLook;
  formula?: string;
  note?: string;
}

/** Of some cells of a batch: by row and position of the column, both counted from 0. */
export type BatchExtras = ReadonlyMap<number, ReadonlyMap<number, CellExtra>>;

/** The cells of a table on a sheet. */
export interface TableForm {
  columns: SheetColumn[];
  forms: CellForm[];
  /** By column: whether its empty cells are written, because the column itself has no style. */
  paintsBlank: boolean[];
}

export interface SheetLayout {
  /** The style of a column is that of its empty cells. */
  columns: { width: number; style?: number | undefined }[];
  /** Rows that stay in view; 0: none. */
  frozenRows: number;
  isFirst: boolean;
}

/** A table that can be filtered, from its header to its last row. */
export interface FilteredTable {
  table: TableForm;
  from: number;
  to: number;
}

const textType: ColumnType = { kind: 'VARCHAR' };
const headerLook: CellLook = { bold: true, background: '#DDE6F0', numberFormat: '@' };

/** The XML of a sheet, row by row as they come. */
export class SheetWriter {
  /** The number of the last row that was written; the first is 1. */
  rowNumber = 0;
  readonly notes: CellNote[] = [];
  private lastColumn: string | null = null;
  private mostColumns = 0;

  constructor(private readonly styles: StyleTable) {}

  layTable(columns: SheetColumn[], { paintsBlanks = false } = {}): TableForm {
    const forms = columns.map(({ type, look, isRaw }, i) =>
      makeForm(isRaw && type.kind === 'VARCHAR' ? 'RAW' : type.kind, nameColumn(i + 1), chooseStyles(this.styles, type, look ?? {})),
    );
    if (columns.length > this.mostColumns) {
      this.mostColumns = columns.length;
      this.lastColumn = forms.at(-1)?.letters ?? null;
    }
    return { columns, forms, paintsBlank: columns.map(({ look }) => paintsBlanks && look?.background !== undefined) };
  }

  begin(out: XmlBuffer, { columns, frozenRows, isFirst }: SheetLayout): void {
    const cols = columns.map(
      ({ width, style }, i) =>
        `<col min="${i + 1}" max="${i + 1}" width="${width}"${style === undefined ? '' : ` style="${style}"`} customWidth="1"/>`,
    );
    const below = `A${frozenRows + 1}`;
    const pane =
      frozenRows > 0
        ? `<pane ySplit="${frozenRows}" topLeftCell="${below}" activePane="bottomLeft" state="frozen"/><selection pane="bottomLeft" activeCell="${below}" sqref="${below}"/>`
        : '';
    const view = `<sheetView${isFirst ? ' tabSelected="1"' : ''} workbookViewId="0">${pane}</sheetView>`;
    out.put(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheetViews>${view}</sheetViews><sheetFormatPr defaultRowHeight="15"/>${cols.length > 0 ? `<cols>${cols.join('')}</cols>` : ''}<sheetData>`);
  }

  putHeader(out: XmlBuffer, table: TableForm): void {
    this.rowNumber += 1;
    const row = String(this.rowNumber);
    const plain = this.styles.number(headerLook);
    const quoted = this.styles.number({ ...headerLook, isQuoted: true });
    out.put(`<row r="${row}">`);
    for (const [i, { name, note }] of table.columns.entries()) {
      const form = table.forms[i] as CellForm;
      this.addNote(form, i, note);
      putText(out, form, row, isFormulaLike(name) ? quoted : plain, name);
    }
    out.put('</row>');
  }

  putRows(out: XmlBuffer, table: TableForm, { rowCount, columns }: ByteBatch, extras: BatchExtras | null = null): void {
    const { forms, paintsBlank } = table;
    for (let row = 0; row < rowCount; row += 1) {
      this.rowNumber += 1;
      const rowNumber = String(this.rowNumber);
      const rowExtras = extras?.get(row);
      out.put('<row r="');
      out.put(rowNumber);
      out.put('">');
      for (let i = 0; i < forms.length; i += 1) {
        const column = columns[i] as ByteColumn;
        const extra = rowExtras?.get(i);
        if (extra) this.putSpecial(out, table, i, rowNumber, readByteText(column, row), extra);
        else if (isValid(column.validity, row)) putByteCell(out, forms[i] as CellForm, rowNumber, column, row);
        else if (paintsBlank[i]) putEmpty(out, forms[i] as CellForm, rowNumber);
      }
      out.put('</row>');
    }
  }

  /** A text in the first cell of a row of its own. */
  putTextRow(out: XmlBuffer, text: string, look: CellLook): void {
    this.rowNumber += 1;
    const row = String(this.rowNumber);
    const isHigh = look.size !== undefined && look.size > usualSize;
    out.put(`<row r="${row}"${isHigh ? ` ht="${Math.ceil((look.size ?? 0) * 1.4)}" customHeight="1"` : ''}>`);
    const asText = { ...look, numberFormat: '@', ...(isFormulaLike(text) ? { isQuoted: true } : {}) };
    const form = makeForm('VARCHAR', 'A', chooseStyles(this.styles, textType, look));
    if (text !== '') putText(out, form, row, this.styles.number(asText), text);
    out.put('</row>');
  }

  /** `extensions`: elements that stand at the end of a sheet. */
  end(out: XmlBuffer, filter: FilteredTable | null, extensions: string): void {
    const last = filter?.table.forms.at(-1)?.letters;
    const filtered = filter && last ? `<autoFilter ref="A${filter.from}:${last}${filter.to}"/>` : '';
    const whole = this.lastColumn && `A1:${this.lastColumn}${this.rowNumber}`;
    // Without this, Excel marks each text that looks like a number.
    const quiet = whole ? `<ignoredErrors><ignoredError sqref="${whole}" numberStoredAsText="1"/></ignoredErrors>` : '';
    out.put(
      `</sheetData>${filtered}<pageMargins left="0.7" right="0.7" top="0.75" bottom="0.75" header="0.3" footer="0.3"/>${quiet}${extensions}</worksheet>`,
    );
  }

  /** On a cell of the last row that was begun. */
  private addNote({ letters }: CellForm, column: number, text: string | undefined): void {
    if (text === undefined || this.notes.length >= mostNotes) return;
    this.notes.push({ ref: `${letters}${this.rowNumber}`, row: this.rowNumber - 1, column, text });
  }

  private putSpecial(out: XmlBuffer, { columns, forms }: TableForm, i: number, row: string, text: string | null, extra: CellExtra): void {
    const { look, formula, note } = extra;
    const { type, look: columnLook } = columns[i] as SheetColumn;
    const own = forms[i] as CellForm;
    this.addNote(own, i, note);
    const form = look ? makeForm(own.kind, own.letters, chooseStyles(this.styles, type, { ...columnLook, ...look })) : own;
    if (formula !== undefined) putFormula(out, form, row, text, formula);
    else if (text === null) putEmpty(out, form, row);
    else putCell(out, form, row, text);
  }
}
