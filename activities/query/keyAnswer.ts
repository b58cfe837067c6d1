import { createHash } from 'node:crypto';
import type { VisibleTable } from '../../core/table/visibleTable.ts';
import { digestEffects } from './digestEffects.ts';

/** Changes when the same query would be answered otherwise than by earlier releases, or these could not read what is kept. */
const release = 2;

/**
 * What decides the answer to a query: its text, its parameters, the versions of the tables that it can read and what its user may
 * see of them. Versions never change, so a kept result with the same key is the answer. Results belong to users, so does the key.
 */
export function keyAnswer(asked: { userId: string; workbookId: string; sql: string; params: unknown }, tables: VisibleTable[]): string {
  const { userId, workbookId, sql, params } = asked;
  const read = tables.map(({ at, effects }) => [at.table.id, at.table.name, at.versionUid, digestEffects(effects)]);
  return createHash('sha256')
    .update(JSON.stringify([release, userId, workbookId, sql, params, read]))
    .digest('base64url');
}
