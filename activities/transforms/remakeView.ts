import { tablePrefix } from '../../store/blobs/keys.ts';
import type { Actor } from '../../store/pg/commit.ts';
import { findCurrentTableById } from '../../store/pg/tables.ts';
import type { TransformRecord } from '../../store/pg/transforms.ts';
import type { Services } from '../../store/services.ts';
import { commitRefresh } from './commitRun.ts';
import { executeRun } from './executeRun.ts';

/** Nobody asked for it: what a view holds does not depend on who reads it. */
const actor: Actor = { name: 'system', userId: null, credential: 'none', requestId: 'refresh-view' };

/** Runs the transform of a view because somebody reads it. Its processes count as those of the reader. */
export async function remakeView(services: Services, userId: string, transform: TransformRecord, signal: AbortSignal): Promise<void> {
  const before = transform.outputId === null ? null : await findCurrentTableById(services.db.pool, transform.outputId);
  if (!before) return;
  const { id, workbookId, accountId } = before.table;
  const place = { before, prefix: tablePrefix(before.table) };
  const made = await executeRun(services, { userId, principal: null, signal }, transform, place);
  await commitRefresh(services, actor, {
    transformId: transform.id,
    definition: transform,
    stored: transform,
    defines: false,
    output: { id, workbookId, accountId, before },
    ...made,
  });
}
