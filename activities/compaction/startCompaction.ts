import { compactionLimits } from '../../core/table/compactionLimits.ts';
import type { TableRecord } from '../../core/table/table.ts';
import { describeErrorForLog } from '../../store/log.ts';
import { listTablesToCompact } from '../../store/pg/compaction.ts';
import type { Services } from '../../store/services.ts';
import { searchAttributes } from '../../store/temporal/searchAttributes.ts';
import { writeSummary } from '../../store/temporal/summary.ts';
import type { ActivityContext } from '../activityContext.ts';

type TableKey = Pick<TableRecord, 'id' | 'workbookId' | 'accountId' | 'name'>;

/** Starts the table's compaction unless it is already running. */
export async function startCompaction(services: Services, table: TableKey): Promise<void> {
  const { client } = await services.temporal();
  await client.workflow.start('compactTable', {
    workflowId: `compact-${table.id}`,
    workflowIdConflictPolicy: 'USE_EXISTING',
    taskQueue: services.config.temporal.taskQueue,
    args: [table.id],
    ...writeSummary('compact', table.name),
    typedSearchAttributes: searchAttributes({ kind: 'compaction', workbook: table.workbookId, account: table.accountId }),
  });
}

const askAgainMs = 30_000;
/** When compaction was last requested for a table, and how far it was over the limits then. */
const asked = new Map<string, { at: number; burden: number }>();

/**
 * Requests a compaction after an edit if the table is over the limits. Best effort: the sweep finds the table too. So it is
 * requested again only after a while, or when the burden has doubled, as the last compaction may have been about to end when it
 * was requested.
 */
export function requestCompaction(services: Services, table: TableKey, tailCount: number, layers: readonly { kind: string }[]): void {
  const files = layers.filter((layer) => layer.kind !== 'log').length;
  const deltas = layers.filter((layer) => layer.kind === 'delta').length;
  const { tail, deltas: mostDeltas, files: mostFiles } = compactionLimits;
  if (tailCount <= tail && deltas < mostDeltas && files <= mostFiles) {
    asked.delete(table.id);
    return;
  }
  const burden = Math.max(tailCount / tail, deltas / mostDeltas, files / mostFiles);
  const now = Date.now();
  for (const [id, { at }] of asked) if (now - at >= askAgainMs) asked.delete(id);
  const last = asked.get(table.id);
  if (last && burden < 2 * last.burden) return;
  asked.set(table.id, { at: now, burden });
  startCompaction(services, table).catch((error: unknown) =>
    services.log.warn({ tableId: table.id, ...describeErrorForLog(error) }, 'compaction not started'),
  );
}

/** Finds tables over the limits, in case the process that edited them ended before requesting a compaction. */
export async function sweepTables(services: Services, activity: ActivityContext): Promise<number> {
  const tables = await listTablesToCompact(services.db.pool, compactionLimits);
  for (const table of tables) {
    activity.heartbeat();
    activity.signal?.throwIfAborted();
    await startCompaction(services, table);
  }
  return tables.length;
}
