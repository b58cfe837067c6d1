import type { ColumnType } from '../cells/columnTypes.ts';
import { CellKind, type Grid, PLAIN_STYLE } from '../grid/grid.ts';
import { type ByteColumn, holdsText, readByteNumber, readByteText, sameBytes } from '../table/textBatch.ts';
import type { CellValue } from '../types/infer.ts';

/** The cells of a sheet that came back, in row order. */
export interface SheetCells extends Pick<Grid, 'size' | 'rows' | 'columns'> {
  readValue(cell: number): CellValue;
  /** A positive whole number. Null: not seen at a glance. */
  readWhole(cell: number): number | null;
  /** Whether a cell holds exactly what was exported. What is not seen at a glance is false. */
  holds(cell: number, type: ColumnType, base: ByteColumn, row: number): boolean;
}

/** Those of a workbook. */
export function readGridCells(grid: Grid): SheetCells {
  const textOf = (i: number) => grid.strings[grid.texts[i] ?? -1] ?? '';
  return {
    size: grid.size,
    rows: grid.rows,
    columns: grid.columns,
    holds(i, type, base, row) {
      if (grid.kinds[i] === CellKind.text) return holdsText(base, row, textOf(i));
      if (grid.kinds[i] !== CellKind.number || !isNumeric(type)) return false;
      const stored = readByteText(base, row);
      return stored !== null && Number(stored) === grid.numbers[i];
    },
    readWhole(i) {
      const number = grid.numbers[i] ?? 0;
      return grid.kinds[i] === CellKind.number && number > 0 && Number.isSafeInteger(number) ? number : null;
    },
    readValue(i) {
      const number = grid.numbers[i] ?? 0;
      switch (grid.kinds[i]) {
        case CellKind.number:
          return { kind: 'number', number, numberFormat: (grid.styles[grid.styleIds[i] ?? 0] ?? PLAIN_STYLE).numberFormat };
        case CellKind.boolean:
          return { kind: 'boolean', boolean: number === 1 };
        case CellKind.date:
          return readDate(number);
        case CellKind.error:
          return { kind: 'error', text: textOf(i) };
        default:
          return { kind: 'text', text: textOf(i) };
      }
    },
  };
}

const firstDay = Date.UTC(1900, 0, 1);

function readDate(ms: number): CellValue {
  const iso = new Date(ms).toISOString().slice(0, 19);
  const timeOnly = ms < firstDay;
  return { kind: 'date', iso, hasTime: !timeOnly && !iso.endsWith('T00:00:00'), timeOnly };
}

function isNumeric({ kind }: ColumnType): boolean {
  return kind === 'BIGINT' || kind === 'DOUBLE' || kind === 'DECIMAL';
}

/** Between day and time stands a T in text files, and a blank in canonical texts. */
const momentBlank = 10;

/** Those of a text file, as bytes. */
export function readTextCells(cells: Pick<Grid, 'size' | 'rows' | 'columns'>, texts: ByteColumn): SheetCells {
  return {
    ...cells,
    holds: (i, { kind }, base, row) => sameBytes(texts, i, base, row, kind === 'TIMESTAMP' ? momentBlank : -1),
    readWhole: (i) => readByteNumber(texts, i),
    readValue: (i) => ({ kind: 'text', text: readByteText(texts, i) ?? '' }),
  };
}
