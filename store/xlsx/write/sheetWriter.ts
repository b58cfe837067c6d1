import { nameColumn } from '../../../core/a1/address.ts';
import type { ColumnType } from '../../../core/cells/columnTypes.ts';
import { isFormulaLike } from '../../../core/cells/csvText.ts';
import type { TextBatch } from '../../../core/table/textBatch.ts';
import { type CellStyles, chooseStyles } from './cellLooks.ts';
import { type CellKind, cellXml, formulaXml, textCell } from './cellXml.ts';
import { fitWidths } from './columnWidths.ts';
import { type CellNote, mostNotes } from './notes.ts';
import type { CellLook, StyleTable } from './styleTable.ts';

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
  private readonly letters: string[];
  private readonly kinds: CellKind[];
  private readonly columnStyles: CellStyles[];
  /** The number of the last row that was written; the first is 1. */
  private rowNumber = 1;
  readonly notes: CellNote[] = [];

  constructor(
    private readonly columns: SheetColumn[],
    private readonly styles: StyleTable,
  ) {
    this.letters = columns.map((_, i) => nameColumn(i + 1));
    this.kinds = columns.map(({ type, isRaw }) => (isRaw && type.kind === 'VARCHAR' ? 'RAW' : type.kind));
    this.columnStyles = columns.map(({ type, look }) => chooseStyles(styles, type, look ?? {}));
  }

  /** `sample`: rows to fit the widths to. */
  begin(sample: TextBatch, isFirstSheet: boolean): string {
    const widths = fitWidths(this.columns, sample.texts);
    // The style of a column is that of its empty cells.
    const cols = widths.map(
      (width, i) => `<col min="${i + 1}" max="${i + 1}" width="${width}" style="${this.columnStyles[i]?.plain}" customWidth="1"/>`,
    );
    const view = `<sheetView${isFirstSheet ? ' tabSelected="1"' : ''} workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/><selection pane="bottomLeft" activeCell="A2" sqref="A2"/></sheetView>`;
    return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheetViews>${view}</sheetViews><sheetFormatPr defaultRowHeight="15"/>${cols.length > 0 ? `<cols>${cols.join('')}</cols>` : ''}<sheetData>${this.headerXml()}`;
  }

  rows({ rowCount, texts }: TextBatch, extras: BatchExtras | null = null): string {
    const { columns, letters, kinds, columnStyles } = this;
    let xml = '';
    for (let row = 0; row < rowCount; row += 1) {
      this.rowNumber += 1;
      const rowExtras = extras?.get(row);
      xml += `<row r="${this.rowNumber}">`;
      for (let i = 0; i < columns.length; i += 1) {
        const text = texts[i]?.[row] ?? null;
        const extra = rowExtras?.get(i);
        const ref = (letters[i] as string) + this.rowNumber;
        if (extra) xml += this.specialCell(i, ref, text, extra);
        else if (text !== null) xml += cellXml(kinds[i] as CellKind, ref, text, columnStyles[i] as CellStyles);
      }
      xml += '</row>';
    }
    return xml;
  }

  /** `extensions`: elements that stand at the end of a sheet. */
  end(extensions = ''): string {
    const last = this.letters.at(-1);
    const whole = last && `A1:${last}${this.rowNumber}`;
    const filter = whole ? `<autoFilter ref="${whole}"/>` : '';
    // Without this, Excel marks each text that looks like a number.
    const quiet = whole ? `<ignoredErrors><ignoredError sqref="${whole}" numberStoredAsText="1"/></ignoredErrors>` : '';
    return `</sheetData>${filter}<pageMargins left="0.7" right="0.7" top="0.75" bottom="0.75" header="0.3" footer="0.3"/>${quiet}${extensions}</worksheet>`;
  }

  private headerXml(): string {
    const plain = this.styles.number(headerLook);
    const quoted = this.styles.number({ ...headerLook, isQuoted: true });
    for (const [i, { note }] of this.columns.entries()) this.addNote(i, note);
    const cells = this.columns.map(({ name }, i) => textCell(`${this.letters[i]}1`, isFormulaLike(name) ? quoted : plain, name));
    return `<row r="1">${cells.join('')}</row>`;
  }

  /** On a cell of the last row that was begun. */
  private addNote(column: number, text: string | undefined): void {
    if (text === undefined || this.notes.length >= mostNotes) return;
    this.notes.push({ ref: `${this.letters[column]}${this.rowNumber}`, row: this.rowNumber - 1, column, text });
  }

  private specialCell(i: number, ref: string, text: string | null, { look, formula, note }: CellExtra): string {
    this.addNote(i, note);
    const { type, look: columnLook } = this.columns[i] as SheetColumn;
    const styles = look ? chooseStyles(this.styles, type, { ...columnLook, ...look }) : (this.columnStyles[i] as CellStyles);
    const kind = this.kinds[i] as CellKind;
    if (formula !== undefined) return formulaXml(kind, ref, text, formula, styles);
    const cell = text === null ? '' : cellXml(kind, ref, text, styles);
    return cell === '' ? `<c r="${ref}" s="${styles.plain}"/>` : cell;
  }
}
