import { formatRange } from '../../core/a1/address.ts';
import { type Scalar, trimBlanks } from '../../core/a1/block.ts';
import type { Range } from '../../core/grid/grid.ts';
import { estimateRowsMemory } from '../../core/table/rowBytes.ts';
import type { VisibleTable } from '../../core/table/visibleTable.ts';
import type { Services } from '../../store/services.ts';
import { mostWorkBytes } from '../../store/tables/answerSize.ts';
import { readBlock } from '../../store/tables/readBlock.ts';
import { takeWorkMemory } from '../../store/workMemory.ts';
import { refuseRange, requireBlock } from './openBlock.ts';

/** The same limit as for one write. */
const mostCells = 1_000_000;

/** Reads the table as a sheet: row 1 is the header, columns are those the caller sees, trailing blanks are left out. */
export async function readRange(
  services: Services,
  visible: VisibleTable,
  rangeText: string,
): Promise<{ range: string; values: Scalar[][] }> {
  const asked = requireBlock(rangeText, '/query/range');
  const { at, columns } = visible;
  // There is nothing beyond the last row and column.
  const block: Range = { ...asked, bottom: Math.min(asked.bottom, at.rowCount + 1), right: Math.min(asked.right, columns.length) };
  const chosen = columns.slice(block.left - 1, block.right);
  const height = block.bottom - block.top + 1;
  if (height * chosen.length > mostCells)
    throw refuseRange({ pointer: '/query/range', detail: `holds more than ${mostCells} cells; read it in parts` });
  await takeWorkMemory(Math.min(mostWorkBytes, 2 * estimateRowsMemory(at, chosen, height)));
  const values: Scalar[][] = [];
  if (chosen.length > 0 && height > 0) {
    if (block.top === 1) values.push(chosen.map((column) => column.name));
    const first = Math.max(block.top, 2) - 2;
    values.push(...(await readBlock(services, { visible, columns: chosen }, first, block.bottom - 1 - first)));
  }
  const shown = trimBlanks(values);
  const { top, left } = asked;
  const width = shown[0]?.length ?? 0;
  return {
    range: formatRange({ top, left, bottom: top + Math.max(shown.length, 1) - 1, right: left + Math.max(width, 1) - 1 }),
    values: shown,
  };
}
