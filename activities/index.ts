import { Context } from '@temporalio/activity';
import type { Services } from '../store/services.ts';
import { compactTable, type Pulse } from './compaction/compactTable.ts';
import { sweepTables } from './compaction/startCompaction.ts';
import { collectBlobs, collectVersions, sweepDrafts } from './maintenance/collectGarbage.ts';
import { expireThings } from './maintenance/expireThings.ts';

/** The activities that workflows call, over one process's services. */
export function makeActivities(services: Services) {
  return {
    expireThings: () => expireThings(services, () => Context.current().heartbeat()),
    compactTable: (tableId: string) => beat((pulse) => compactTable(services, tableId, pulse)),
    sweepTables: () => beat((pulse) => sweepTables(services, pulse)),
    collectVersions: () => beat((pulse) => collectVersions(services, pulse)),
    sweepDrafts: () => sweepDrafts(services),
    collectBlobs: (after: string) => beat((pulse) => collectBlobs(services, after, pulse)),
  };
}

export type Activities = ReturnType<typeof makeActivities>;

const beatMs = 10_000;

/** One statement or one file can take longer than a heartbeat may: as long as the process lives, it says so. */
async function beat<T>(work: (pulse: Pulse) => Promise<T>): Promise<T> {
  const context = Context.current();
  const heartbeat = () => context.heartbeat();
  const timer = setInterval(heartbeat, beatMs);
  try {
    return await work({ heartbeat, signal: context.cancellationSignal });
  } finally {
    clearInterval(timer);
  }
}
