import type { Scalar } from '../a1/block.ts';
import { type Cast, castValue, Refusal } from '../cells/castValue.ts';
import type { ColumnType } from '../cells/columnTypes.ts';
import { parseExactly } from '../cells/jsonReader.ts';
import { type Casting, type CastRow, mostFaults, type TypedColumn } from './casting.ts';
import type { Cells } from './table.ts';

/** What is wrong with a cell of a block; row and column are places in the block. */
export interface BlockFault {
  row: number;
  column: number;
  why: string;
}

/**
 * A block of cells as rows; `rowIds` are those that stand at its positions, the rows past them are new, up to the last one
 * that has something in it. `null` leaves a cell as it is, `""` clears it.
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
      else if (faults.length < mostFaults) faults.push({ row, column: place, why: result.why });
    }
    cast.push({ rowId: rowIds[row] ?? null, cells, given: Object.keys(cells).map(Number) });
  }
  if (faults.length > 0) return { kind: 'faulty', faults };
  const isEmpty = (row: CastRow) => row.given.length === 0;
  const last = cast.findLastIndex((row) => !isEmpty(row));
  return { kind: 'cast', rows: cast.filter((row, i) => (row.rowId === null ? i <= last : !isEmpty(row))) };
}

/** A cell holds one value: JSON stands in it as its text. */
function castScalar(type: ColumnType, value: Exclude<Scalar, null>): Cast {
  if (value === '') return null;
  if (type.kind !== 'JSON' || typeof value !== 'string') return castValue(type, value);
  try {
    return castValue(type, parseExactly(value));
  } catch {
    return new Refusal('must be JSON');
  }
}
