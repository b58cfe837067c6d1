import { type ColumnType, parseColumnType } from '../../../core/cells/columnTypes.ts';
import { SheetComparison } from '../../../core/merge/compareSheet.ts';
import { mostBytes, refuseTooLarge } from '../../../core/merge/limits.ts';
import { packRow, type ReturnedRow } from '../../../core/merge/packedRow.ts';
import { readBatchFile } from '../../../store/records/readBatchFile.ts';
import type { ReturnedFile } from './readReturned.ts';
import type { WantedSheet } from './requests.ts';

/** The comparison of a sheet with its export, part by part. Answers are lines of JSON: the number of rows that nobody edited, and packed rows. */
export class ReturnedComparison {
  private readonly comparison: SheetComparison;
  private bytes = 0;

  constructor({ sheets, isLoose }: ReturnedFile, { sheet, rowId, columns }: WantedSheet) {
    const cells = sheets[sheet]?.cells;
    if (!cells) throw new Error(`there is no sheet ${sheet}`);
    const typed = columns.map((column) => ({ ...column, type: parseColumnType(column.type) as ColumnType }));
    this.comparison = new SheetComparison({ cells, isLoose, rowId, columns: typed });
  }

  begin(): Buffer {
    return this.write([this.comparison.compareAdded()]);
  }

  /** `path` is that of a batch file with rows of the export. */
  async compare(path: string): Promise<Buffer> {
    const parts: Iterable<ReturnedRow>[] = [];
    for await (const batch of readBatchFile(path)) parts.push(this.comparison.compareBatch(batch));
    return this.write(parts);
  }

  end(): Buffer {
    return this.write([this.comparison.compareRest()]);
  }

  private write(parts: Iterable<ReturnedRow>[]): Buffer {
    const before = this.comparison.unchanged;
    const lines: string[] = [];
    for (const rows of parts) {
      for (const row of rows) {
        const line = JSON.stringify(packRow(row));
        this.bytes += Buffer.byteLength(line);
        if (this.bytes > mostBytes) throw refuseTooLarge(`takes more than ${mostBytes} bytes`);
        lines.push(line);
      }
    }
    return Buffer.from([this.comparison.unchanged - before, ...lines].join('\n'));
  }
}
