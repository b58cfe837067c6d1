import type { Scalar } from '../a1/block.ts';
import { type Cast, castValue, Refusal } from '../cells/castValue.ts';
import type { ColumnType } from '../cells/columnTypes.ts';
import { parseExactly } from '../cells/jsonReader.ts';
import { type Casting, type CastRow, maxFaults, type TypedColumn } from './casting.ts';
import type { Cells } from './table.ts';

/** What is wrong with a cell. Row and column are positions in the block. */
export interface BlockFault {
  row: number;
  column: number;
  why: string;
}

/**
 * Turns a block of cells into rows. `rowIds` are the existing rows at its positions; rows beyond them are new, up to the last
 * one that is not empty. `null` leaves a cell unchanged, `""` clears it.
 */
export function castBlock(columns: TypedColumn[], values: Scalar[][], rowIds: number[]): Casting<BlockFault> {
  const faults: BlockFault[] = [];
  const cast: CastRow[] = [];
  for (const [row, cellsGiven] of values.entries()) {
    const cells: Cells = {};
    for (const [place, value] of cellsGiven.entries()) {
      const column = columns[place] as TypedColumn;
      if (value === null) continue;
      if (column.masked) return { kind: 'masked', column };
      const result = castScalar(column.parsed, value);
      if (!(result instanceof Refusal)) cells[column.id] = result;
      else if (faults.length < maxFaults) faults.push({ row, column: place, why: result.why });
    }
    cast.push({ rowId: rowIds[row] ?? null, cells, given: Object.keys(cells).map(Number) });
  }
  if (faults.length > 0) return { kind: 'faulty', faults };
  const isEmpty = (row: CastRow) => row.given.length === 0;
  const last = cast.findLastIndex((row) => !isEmpty(row));
  return { kind: 'cast', rows: cast.filter((row, i) => (row.rowId === null ? i <= last : !isEmpty(row))) };
}

/** A cell holds one value, so JSON is stored as its text. */
function castScalar(type: ColumnType, value: Exclude<Scalar, null>): Cast {
  if (value === '') return null;
  if (type.kind !== 'JSON' || typeof value !== 'string') return castValue(type, value);
  try {
    return castValue(type, parseExactly(value));
  } catch {
    return new Refusal('must be JSON');
  }
}
