import type { Scalar } from '../../core/a1/block.ts';
import { cellJson } from '../../core/cells/cellJson.ts';
import type { ColumnType } from '../../core/cells/columnTypes.ts';

/** A cell holds one value: JSON stands in it as its text. */
export function presentCell(type: ColumnType, text: string | null): Scalar {
  return type.kind === 'JSON' ? text : (JSON.parse(cellJson(type, text)) as Scalar);
}
