import { nameColumn } from '../../../core/a1/address.ts';
import type { ColumnType } from '../../../core/cells/columnTypes.ts';
import { isFormulaLike } from '../../../core/cells/csvText.ts';
import { type ByteBatch, type ByteColumn, isValid, readByteText, type TextBatch } from '../../../core/table/textBatch.ts';
import { chooseStyles } from './cellLooks.ts';
import { type CellForm, makeForm, putByteCell, putCell, putEmpty, putFormula, putText } from './cellXml.ts';
import { fitWidths } from './columnWidths.ts';
import { type CellNote, mostNotes } from './notes.ts';
import type { CellLook, StyleTable } from './styleTable.ts';
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

const headerLook: CellLook = { bold: true, background: '#DDE6F0', numberFormat: '@' };

/** The XML of a sheet: a header that stays in view, then rows as they come. */
export class SheetWriter {
  private readonly forms: CellForm[];
  /** The number of the last row that was written; the first is 1. */
  private rowNumber = 1;
  readonly notes: CellNote[] = [];

  constructor(
    private readonly columns: SheetColumn[],
    private readonly styles: StyleTable,
  ) {
    this.forms = columns.map(({ type, look, isRaw }, i) =>
      makeForm(isRaw && type.kind === 'VARCHAR' ? 'RAW' : type.kind, nameColumn(i + 1), chooseStyles(styles, type, look ?? {})),
    );
  }

  /** `sample`: rows to fit the widths to. */
  begin(out: XmlBuffer, sample: TextBatch, isFirstSheet: boolean): void {
    const widths = fitWidths(this.columns, sample.texts);
    // The style of a column is that of its empty cells.
    const cols = widths.map(
      (width, i) => `<col min="${i + 1}" max="${i + 1}" width="${width}" style="${this.forms[i]?.styles.plain}" customWidth="1"/>`,
    );
    const view = `<sheetView${isFirstSheet ? ' tabSelected="1"' : ''} workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/><selection pane="bottomLeft" activeCell="A2" sqref="A2"/></sheetView>`;
    out.put(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheetViews>${view}</sheetViews><sheetFormatPr defaultRowHeight="15"/>${cols.length > 0 ? `<cols>${cols.join('')}</cols>` : ''}<sheetData>`);
    this.putHeader(out);
  }

  rows(out: XmlBuffer, { rowCount, columns }: ByteBatch, extras: BatchExtras | null = null): void {
    const { forms } = this;
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
        if (extra) this.putSpecial(out, i, rowNumber, readByteText(column, row), extra);
        else if (isValid(column.validity, row)) putByteCell(out, forms[i] as CellForm, rowNumber, column, row);
      }
      out.put('</row>');
    }
  }

  /** `extensions`: elements that stand at the end of a sheet. */
  end(out: XmlBuffer, extensions = ''): void {
    const last = this.forms.at(-1)?.letters;
    const whole = last && `A1:${last}${this.rowNumber}`;
    const filter = whole ? `<autoFilter ref="${whole}"/>` : '';
    // Without this, Excel marks each text that looks like a number.
    const quiet = whole ? `<ignoredErrors><ignoredError sqref="${whole}" numberStoredAsText="1"/></ignoredErrors>` : '';
    out.put(
      `</sheetData>${filter}<pageMargins left="0.7" right="0.7" top="0.75" bottom="0.75" header="0.3" footer="0.3"/>${quiet}${extensions}</worksheet>`,
    );
  }

  private putHeader(out: XmlBuffer): void {
    const plain = this.styles.number(headerLook);
    const quoted = this.styles.number({ ...headerLook, isQuoted: true });
    out.put('<row r="1">');
    for (const [i, { name, note }] of this.columns.entries()) {
      this.addNote(i, note);
      putText(out, this.forms[i] as CellForm, '1', isFormulaLike(name) ? quoted : plain, name);
    }
    out.put('</row>');
  }

  /** On a cell of the last row that was begun. */
  private addNote(column: number, text: string | undefined): void {
    if (text === undefined || this.notes.length >= mostNotes) return;
    this.notes.push({ ref: `${this.forms[column]?.letters}${this.rowNumber}`, row: this.rowNumber - 1, column, text });
  }

  private putSpecial(out: XmlBuffer, i: number, row: string, text: string | null, { look, formula, note }: CellExtra): void {
    this.addNote(i, note);
    const { type, look: columnLook } = this.columns[i] as SheetColumn;
    const own = this.forms[i] as CellForm;
    const form = look ? makeForm(own.kind, own.letters, chooseStyles(this.styles, type, { ...columnLook, ...look })) : own;
    if (formula !== undefined) putFormula(out, form, row, text, formula);
    else if (text === null) putEmpty(out, form, row);
    else putCell(out, form, row, text);
  }
}
