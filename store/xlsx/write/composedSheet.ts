import type { ByteBatch } from '../../../core/table/textBatch.ts';
import type { SheetPieces } from './sheetPieces.ts';
import type { BatchExtras, FilteredTable, SheetColumn, SheetWriter } from './sheetWriter.ts';
import type { CellLook } from './styleTable.ts';

/** A sheet that is being written into a workbook. */
export interface SheetFile {
  pieces: SheetPieces;
  sheet: SheetWriter;
  isFirst: boolean;
  end(filter: FilteredTable | null): Promise<void>;
}

export interface ComposedLayout {
  /** Of its columns. */
  widths: number[];
  /** Rows that stay in view; 0: none. */
  frozenRows: number;
  /** Its only table can be filtered. */
  hasFilter: boolean;
}

/** Texts and tables, one below the other. */
export class ComposedSheet {
  private filter: FilteredTable | null = null;

  constructor(
    private readonly file: SheetFile,
    private readonly layout: ComposedLayout,
  ) {
    const { pieces, sheet, isFirst } = file;
    const columns = layout.widths.map((width) => ({ width }));
    sheet.begin(pieces.out, { columns, frozenRows: layout.frozenRows, isFirst });
  }

  /** In the first cell of a row of its own. The other cells of the row are empty, so that all of it is seen. */
  async writeText(text: string, look: CellLook): Promise<void> {
    const { pieces, sheet } = this.file;
    sheet.putTextRow(pieces.out, text, look);
    await pieces.handOnIfFull();
  }

  skipRows(count: number): void {
    this.file.sheet.rowNumber += count;
  }

  /** Writes the header of a table; its rows go to what is returned. */
  openTable(columns: SheetColumn[]): (batch: ByteBatch, extras: BatchExtras | null) => Promise<void> {
    const { pieces, sheet } = this.file;
    const table = sheet.layTable(columns, { paintsBlanks: true });
    sheet.putHeader(pieces.out, table);
    const written: FilteredTable = { table, from: sheet.rowNumber, to: sheet.rowNumber };
    if (this.layout.hasFilter) this.filter = written;
    return async (batch, extras) => {
      sheet.putRows(pieces.out, table, batch, extras);
      written.to = sheet.rowNumber;
      await pieces.handOnIfFull();
    };
  }

  async end(): Promise<void> {
    await this.file.end(this.filter);
  }
}
