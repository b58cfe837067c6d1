import { createHash } from 'node:crypto';
import type { ColumnEffect } from '../../core/table/visibleTable.ts';

/** What policies hide of a table, in short; empty if nothing. */
export function digestEffects(effects: ReadonlyMap<number, ColumnEffect>): string {
  if (effects.size === 0) return '';
  const lines = [...effects].sort(([a], [b]) => a - b).map(([id, effect]) => `${id} ${effect}`);
  return createHash('sha256').update(lines.join('\n')).digest('base64url');
}
