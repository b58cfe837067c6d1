import { CellKind, type Grid } from '../../core/grid/grid.ts';
import type { ValueList } from '../../core/structuring/index.ts';
import { CellValues } from '../../core/structuring/sheet/cellValues.ts';
import type { StoredValue } from '../../core/types/index.ts';
import { putValue } from '../../store/duckdb/writeFile.ts';
import { FixedColumn, type IntegerColumn } from '../../store/parquet/columnEncoders.ts';
import { EncodedTexts } from '../../store/parquet/encodedTexts.ts';
import type { ValueColumn } from '../../store/parquet/storedTypes.ts';
import { TextColumn } from '../../store/parquet/textColumn.ts';

/** Of a table's values to those of a file. Most come from cells, and are put as they stand there: as bytes of texts and as numbers. */

/** The texts of a sheet as they land in a table. */
export function openTexts(grid: Grid): EncodedTexts {
  const texts = new EncodedTexts((text) => text.trim());
  texts.begin(grid.strings);
  return texts;
}

/** Puts as many values as there are `rows`; `positionAt` says where in the list. `texts` are those of the sheet. */
export function putList(
  target: ValueColumn | IntegerColumn,
  list: ValueList,
  rows: number,
  positionAt: (row: number) => number,
  texts: EncodedTexts,
): void {
  const put = list instanceof CellValues ? choosePut(target, list, texts) : putNone;
  for (let row = 0; row < rows; row += 1) {
    const position = positionAt(row);
    if (!put(row, position)) putValue(target, row, list.at(position) ?? null);
  }
}

/** Puts what the cell at a position of the list holds; false where that cannot be put as it stands. */
type PutCell = (row: number, position: number) => boolean;

const putNone: PutCell = () => false;

function choosePut(target: ValueColumn | IntegerColumn, list: CellValues, texts: EncodedTexts): PutCell {
  const { cells, grid, column } = list;
  const { kinds, numbers, texts: ids } = grid;
  if (target instanceof TextColumn && column.type === 'VARCHAR')
    return (row, position) => {
      const cell = cells[position] as number;
      if (cell < 0 || kinds[cell] !== CellKind.text) return cell < 0;
      texts.put(target, row, ids[cell] as number);
      return true;
    };
  if (!(target instanceof FixedColumn)) return putNone;
  const { type } = column;
  if (type === 'BIGINT' || type === 'DOUBLE')
    return (row, position) => {
      const cell = cells[position] as number;
      if (cell < 0 || kinds[cell] !== CellKind.number) return cell < 0;
      target.putValue(row, numbers[cell] as number);
      return true;
    };
  return (row, position) => {
    const cell = cells[position] as number;
    const moment = cell < 0 ? null : list.momentOf(cell);
    if (moment === null) return cell < 0;
    target.putValue(row, type === 'DATE' ? Math.floor(moment / dayMs) : Math.floor(moment / 1000) * 1_000_000);
    return true;
  };
}

const dayMs = 86_400_000;

/** Adds the most bytes that the values of a list can take to those of their rows. */
export function addBytes(bytes: Float64Array, list: ValueList, texts: EncodedTexts): void {
  const sizeAt = list instanceof CellValues ? measureCells(list, texts) : (n: number) => sizeOf(list[n] ?? null);
  for (let n = 0; n < bytes.length; n += 1) bytes[n] = (bytes[n] as number) + sizeAt(n);
}

function measureCells(list: CellValues, texts: EncodedTexts): (n: number) => number {
  const { cells, grid } = list;
  if (list.column.type !== 'VARCHAR') return () => valueBytes;
  return (n) => {
    const cell = cells[n] as number;
    if (cell < 0) return valueBytes;
    return grid.kinds[cell] === CellKind.text ? Math.max(leastText, texts.sizeOf(grid.texts[cell] as number)) : sizeOf(list.at(n));
  };
}

/** DuckDB keeps short texts in so many bytes. */
const leastText = 16;
const valueBytes = 8;

function sizeOf(value: StoredValue): number {
  return typeof value === 'string' ? Math.max(leastText, Buffer.byteLength(value) + 4) : valueBytes;
}
