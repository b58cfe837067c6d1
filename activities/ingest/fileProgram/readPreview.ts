import { basename, extname } from 'node:path';
import { formatRange } from '../../../core/a1/address.ts';
import { answerTooLarge } from '../../../core/errors.ts';
import type { RowBatch } from '../../../core/grid/batch.ts';
import { formatValue } from '../../../core/grid/format/formatCell.ts';
import { CellKind, type CellStyle, PLAIN_STYLE, type Range } from '../../../core/grid/grid.ts';
import { isRecordFormat, type RecordColumn } from '../../../core/records/records.ts';
import { scanCsv } from '../../../store/csv/index.ts';
import type { RecordFile } from '../../../store/records/recordFile.ts';
import { SheetLayout, WorkbookFile } from '../../../store/xlsx/index.ts';
import { noSheet } from './noSheet.ts';
import { asShown } from './readCells.ts';
import { openRecords } from './readInput.ts';
import type { FileInput } from './requests.ts';

type Shown = string | number | boolean | null;

/** How cells look. */
export interface Look {
  align: 'left' | 'center' | 'right';
  bold: boolean;
  italic: boolean;
  fill: string | null;
  color: string | null;
  indent: number;
}

interface Cells {
  values: Shown[][];
  truncated: boolean;
  styles: Look[];
  style_ids: (number | null)[][];
}

/** In the words of the contract. */
export interface Preview extends Cells {
  sheet: string;
  sheets: string[];
  range: string;
  merges: string[];
  column_widths: number[];
  row_heights: number[];
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
      : await readCells(takeRows(scanCsv(path, { filename }), range.bottom), range, []);
    return { sheet: name, sheets: [name], range: formatRange(range), ...shown, ...listMeasures(new SheetLayout(range), shown) };
  }
  const file = await WorkbookFile.open(path);
  try {
    const sheets = file.sheets.map(({ name }) => name);
    const sheet = wanted ?? sheets[0] ?? '';
    if (!sheets.includes(sheet)) throw noSheet(sheet, sheets);
    const layout = new SheetLayout(range);
    const batches = file.scanSheet(sheet, { formulas: false, batchRows: 1024, layout, lastRow: range.bottom });
    const shown = await readCells(batches, range, file.styles);
    return { sheet, sheets, range: formatRange(range), ...shown, ...listMeasures(layout, shown) };
  } finally {
    await file.close();
  }
}

function listMeasures(layout: SheetLayout, { values }: Cells): Pick<Preview, 'merges' | 'column_widths' | 'row_heights'> {
  return {
    merges: layout.merges.map(formatRange),
    column_widths: layout.listWidths(),
    row_heights: layout.listHeights(values.length),
  };
}

/** Records as a sheet: names in row 1, then the values; nothing of the file is kept longer than a batch. */
async function readRecords(records: RecordFile, range: Range): Promise<Cells> {
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
    const looks = new Looks();
    const styleIds = values.map((row) => row.map((value) => (value === null ? null : looks.idOf(kindOf(value), PLAIN_STYLE))));
    return { values, truncated, styles: looks.list, style_ids: styleIds };
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

/** Batches up to the first that reaches below a row, which shows that there is more. */
async function* takeRows(batches: AsyncIterable<RowBatch>, last: number): AsyncGenerator<RowBatch, void, undefined> {
  for await (const batch of batches) {
    yield batch;
    if ((batch.rows.at(-1) ?? 0) > last) return;
  }
}

async function readCells(batches: AsyncIterable<RowBatch>, range: Range, styles: CellStyle[]): Promise<Cells> {
  const width = range.right - range.left + 1;
  const values: Shown[][] = [];
  const styleIds: (number | null)[][] = [];
  const looks = new Looks();
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
        const style = styles[column.styleIds[i] ?? 0] ?? PLAIN_STYLE;
        const shown = formatValue(kind, number, text, style.numberFormat);
        while (values.length <= row - range.top) {
          values.push(new Array<Shown>(width).fill(null));
          styleIds.push(new Array<number | null>(width).fill(null));
        }
        bytes = addBytes(bytes, shown);
        (values[row - range.top] as Shown[])[column.column - range.left] = asShown(kind, number, shown);
        (styleIds[row - range.top] as (number | null)[])[column.column - range.left] = looks.idOf(kind, style);
      }
    }
  }
  return { values, truncated, styles: looks.list, style_ids: styleIds };
}

function kindOf(value: Shown): CellKind {
  return typeof value === 'number' ? CellKind.number : typeof value === 'boolean' ? CellKind.boolean : CellKind.text;
}

/** The looks of cells, each once. */
class Looks {
  readonly list: Look[] = [];
  private readonly known = new Map<string, number>();
  /** By style and kind of cell. */
  private readonly ids = new Map<CellStyle, (number | undefined)[]>();

  idOf(kind: CellKind, style: CellStyle): number {
    const byKind = this.ids.get(style) ?? [];
    this.ids.set(style, byKind);
    const id = byKind[kind] ?? this.add(kind, style);
    byKind[kind] = id;
    return id;
  }

  private add(kind: CellKind, { align, bold, italic, fillColor, fontColor, indent }: CellStyle): number {
    const look: Look = {
      align: align ?? usualAlign(kind),
      bold,
      italic,
      fill: fillColor,
      color: fontColor,
      indent: Math.max(0, Math.trunc(indent)),
    };
    const text = JSON.stringify(look);
    const id = this.known.get(text) ?? this.list.push(look) - 1;
    this.known.set(text, id);
    return id;
  }
}

function usualAlign(kind: CellKind): Look['align'] {
  if (kind === CellKind.number || kind === CellKind.date) return 'right';
  return kind === CellKind.text ? 'left' : 'center';
}

function addBytes(bytes: number, text: string): number {
  if (bytes + text.length > mostBytes) throw answerTooLarge(mostBytes, 'Name a smaller block with `range`, such as A1:F50.');
  return bytes + text.length;
}
