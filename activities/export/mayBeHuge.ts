import { estimateRowBytes } from '../../core/table/rowBytes.ts';
import type { Projection } from '../../store/tables/projection.ts';

/** What is written around a value, and how much longer than stored it can become, at most. */
const [aroundCell, growth] = [64, 8];

/** Whether tables, written out together, may be longer than the 4 GiB that a plain zip entry holds. Rather yes than no. */
export function mayBeHuge(...projections: Projection[]): boolean {
  const bytes = projections.map(
    ({ visible: { at }, columns }) => at.rowCount * (columns.length * aroundCell + estimateRowBytes(at, columns) * growth),
  );
  return bytes.reduce((sum, each) => sum + each, 0) >= 2 ** 32 - 1;
}
