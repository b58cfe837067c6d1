import { compactionLimits } from '../../core/table/compactionLimits.ts';
import type { TableRecord } from '../../core/table/table.ts';
import { describeErrorForLog } from '../../store/log.ts';
import { listTablesToCompact } from '../../store/pg/compaction.ts';
import type { Services } from '../../store/services.ts';
import { searchAttributes } from '../../store/temporal/searchAttributes.ts';
import type { Pulse } from '../pulse.ts';

type TableKey = Pick<TableRecord, 'id' | 'workbookId' | 'accountId'>;

/** Starts the table's compaction unless it is running: one at a time, whoever asks. */
export async function startCompaction(services: Services, table: TableKey): Promise<void> {
  const { client } = await services.temporal();
  await client.workflow.start('compactTable', {
    workflowId: `compact-${table.id}`,
    workflowIdConflictPolicy: 'USE_EXISTING',
    taskQueue: services.config.temporal.taskQueue,
    args: [table.id],
    typedSearchAttributes: searchAttributes({ kind: 'compaction', workbook: table.workbookId, account: table.accountId }),
  });
}

const askAgainMs = 30_000;
/** When a compaction was asked for, and how far over the limits the table was then. */
const asked = new Map<string, { at: number; burden: number }>();

/**
 * After an edit: asks for a compaction when the table is over the limits. Nobody waits for it and nothing depends on it, the
 * sweep finds the table too; so it is asked for once in a while, not at every edit until it is done. But again when the burden
 * has doubled: the compaction may have been about to end when it was asked for.
 */
export function compactWhenLong(services: Services, table: TableKey, tailCount: number, layers: readonly { kind: string }[]): void {
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

/** Finds tables over the limits, so that none is forgotten when the process that edited it was gone. */
export async function sweepTables(services: Services, pulse: Pulse): Promise<number> {
  const tables = await listTablesToCompact(services.db.pool, compactionLimits);
  for (const table of tables) {
    pulse.heartbeat();
    pulse.signal?.throwIfAborted();
    await startCompaction(services, table);
  }
  return tables.length;
}
