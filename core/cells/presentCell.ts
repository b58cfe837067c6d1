import type { Scalar } from '../a1/block.ts';
import { cellJson } from './cellJson.ts';
import type { ColumnType } from './columnTypes.ts';

/** A cell holds one value: JSON stands in it as its text. */
export function presentCell(type: ColumnType, text: string | null): Scalar {
  return type.kind === 'JSON' ? text : (JSON.parse(cellJson(type, text)) as Scalar);
}
