import { estimateRowBytes } from '../../core/table/rowBytes.ts';
import type { Projection } from '../../store/tables/projection.ts';

/** What is written around a value, and how much longer than stored it can become, at most. */
const [aroundCell, growth] = [64, 8];

/** Whether a table, written out, may be longer than the 4 GiB that a plain zip entry holds. Rather yes than no. */
export function mayBeHuge({ visible: { at }, columns }: Projection): boolean {
  return at.rowCount * (columns.length * aroundCell + estimateRowBytes(at, columns) * growth) >= 2 ** 32 - 1;
}
