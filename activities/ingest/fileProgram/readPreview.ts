import { basename, extname } from 'node:path';
import { formatRange } from '../../../core/a1/address.ts';
import { answerTooLarge } from '../../../core/errors.ts';
import type { RowBatch } from '../../../core/grid/batch.ts';
import { formatValue } from '../../../core/grid/format/formatCell.ts';
import type { CellKind, CellStyle, Range } from '../../../core/grid/grid.ts';
import { isRecordFormat, type RecordColumn } from '../../../core/records/records.ts';
import { scanCsv } from '../../../store/csv/index.ts';
import type { RecordFile } from '../../../store/records/recordFile.ts';
import { WorkbookFile } from '../../../store/xlsx/index.ts';
import { noSheet } from './noSheet.ts';
import { asShown } from './readCells.ts';
import { openRecords } from './readInput.ts';
import type { FileInput } from './requests.ts';

type Shown = string | number | boolean | null;

interface Preview {
  sheet: string;
  sheets: string[];
  range: string;
  values: Shown[][];
  truncated: boolean;
}

const mostBytes = 16 * 1024 * 1024;

/** Cells of a file, as the sheet shows them. */
export async function readPreview(input: FileInput, wanted: string | null, range: Range): Promise<Preview> {
  const { path, format, filename } = input;
  if (format !== 'xlsx') {
    const name = basename(filename, extname(filename));
    if (wanted !== null && wanted !== name) throw noSheet(wanted, [name]);
    const shown = isRecordFormat(format)
      ? await readRecords(await openRecords(input), range)
      : await readCells(scanCsv(path, { filename }), range, []);
    return { sheet: name, sheets: [name], range: formatRange(range), ...shown };
  }
  const file = await WorkbookFile.open(path);
  try {
    const sheets = file.sheets.map(({ name }) => name);
    const sheet = wanted ?? sheets[0] ?? '';
    if (!sheets.includes(sheet)) throw noSheet(sheet, sheets);
    const batches = file.scanSheet(sheet, { formulas: false, batchRows: 1024 });
    return { sheet, sheets, range: formatRange(range), ...(await readCells(batches, range, file.styles)) };
  } finally {
    await file.close();
  }
}

/** Records as a sheet: names in row 1, then the values; nothing of the file is kept longer than a batch. */
async function readRecords(records: RecordFile, range: Range): Promise<{ values: Shown[][]; truncated: boolean }> {
  try {
    const values: Shown[][] = [];
    let bytes = 0;
    let truncated = records.columns.length > range.right || range.left > 1 || range.top > 1;
    const put = (row: number, textOf: (k: number) => string | null) => {
      if (row < range.top) return;
      values.push(
        Array.from({ length: range.right - range.left + 1 }, (_, i) => {
          const text = textOf(range.left + i - 1);
          bytes = addBytes(bytes, text ?? '');
          return asValue(records.columns[range.left + i - 1], text);
        }),
      );
    };
    put(1, (k) => records.columns[k]?.name ?? null);
    let row = 1;
    for await (const batch of records.batches()) {
      for (let i = 0; i < batch.rows && row < range.bottom; i += 1) {
        row += 1;
        put(row, (k) => batch.columns[k]?.[i] ?? null);
      }
      if (row >= range.bottom) {
        truncated ||= (records.rows ?? Number.POSITIVE_INFINITY) >= range.bottom;
        break;
      }
    }
    return { values, truncated };
  } finally {
    await records.close();
  }
}

/** The header is text whatever the column's type is. */
function asValue(column: RecordColumn | undefined, text: string | null): Shown {
  if (text === null || text === column?.name) return text;
  if (column?.type === 'BOOLEAN') return text === 'true';
  const isNumber = (column?.type === 'BIGINT' || column?.type === 'DOUBLE') && String(Number(text)) === text;
  return isNumber ? Number(text) : text;
}

async function readCells(
  batches: AsyncIterable<RowBatch>,
  range: Range,
  styles: CellStyle[],
): Promise<{ values: Shown[][]; truncated: boolean }> {
  const width = range.right - range.left + 1;
  const values: Shown[][] = [];
  let bytes = 0;
  let truncated = false;
  for await (const batch of batches) {
    for (let i = 0; i < batch.rows.length; i += 1) {
      const row = batch.rows[i] ?? 0;
      for (const column of batch.columns) {
        const kind = column.kinds[i] as CellKind | 0;
        if (kind === 0) continue;
        if (row < range.top || row > range.bottom || column.column < range.left || column.column > range.right) {
          truncated = true;
          continue;
        }
        const text = batch.strings[column.texts?.[i] ?? -1] ?? '';
        const number = column.numbers?.[i] ?? 0;
        const shown = formatValue(kind, number, text, styles[column.styleIds[i] ?? 0]?.numberFormat ?? 'General');
        while (values.length <= row - range.top) values.push(new Array<Shown>(width).fill(null));
        bytes = addBytes(bytes, shown);
        (values[row - range.top] as Shown[])[column.column - range.left] = asShown(kind, number, shown);
      }
      // Rows come in file order, so a row below the range shows that there is more.
      if (row > range.bottom && truncated) return { values, truncated };
    }
  }
  return { values, truncated };
}

function addBytes(bytes: number, text: string): number {
  if (bytes + text.length > mostBytes) throw answerTooLarge(mostBytes, 'Name a smaller block with `range`, such as A1:F50.');
  return bytes + text.length;
}
