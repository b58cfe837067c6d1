import { Context } from '@temporalio/activity';
import type { Services } from '../store/services.ts';
import { anchorChains } from './audit/anchorChains.ts';
import { compactTable } from './compaction/compactTable.ts';
import { sweepTables } from './compaction/startCompaction.ts';
import { concealErrors } from './concealErrors.ts';
import { grantCredits } from './credits/grantCredits.ts';
import { forEverybody, inAccountOf } from './forWhom.ts';
import { analyzeSource } from './ingest/analyzeSource.ts';
import { abandonIngest, failIngest, fallBackIngest } from './ingest/endIngest.ts';
import { failSourceJob } from './ingest/failSourceJob.ts';
import { landRaw } from './ingest/landRaw.ts';
import { materializeSource } from './ingest/materializeSource.ts';
import { promote } from './ingest/promote.ts';
import { structure } from './ingest/structure.ts';
import { sweepJobs } from './jobs/sweepJobs.ts';
import { collectBlobs, collectVersions, sweepDrafts } from './maintenance/collectGarbage.ts';
import { expireThings } from './maintenance/expireThings.ts';
import { beat } from './pulse.ts';

/** The activities that workflows call, over one process's services. */
export function makeActivities(services: Services) {
  return concealErrors({
    ...inAccountOf(services, 'jobs', {
      landRaw: (jobId: string) => beat((pulse) => landRaw(services, jobId, pulse)),
      structure: (jobId: string) => beat((pulse) => structure(services, jobId, pulse)),
      promote: (jobId: string) => beat(() => promote(services, jobId)),
      fallBackIngest: (jobId: string, reason: string) => fallBackIngest(services, jobId, reason),
      failIngest: (jobId: string) => failIngest(services, jobId),
      abandonIngest: (jobId: string) => abandonIngest(services, jobId, 'cancelled'),
      analyzeSource: (jobId: string) => beat((pulse) => analyzeSource(services, jobId, pulse)),
      materializeSource: (jobId: string) => beat((pulse) => materializeSource(services, jobId, pulse)),
      failSourceJob: (jobId: string, reason: 'failed' | 'cancelled') => failSourceJob(services, jobId, reason),
    }),
    ...inAccountOf(services, 'tables', {
      compactTable: (tableId: string) => beat((pulse) => compactTable(services, tableId, pulse)),
    }),
    ...forEverybody({
      expireThings: () => expireThings(services, () => Context.current().heartbeat()),
      sweepJobs: () => beat((pulse) => sweepJobs(services, pulse)),
      sweepTables: () => beat((pulse) => sweepTables(services, pulse)),
      collectVersions: () => beat((pulse) => collectVersions(services, pulse)),
      anchorChains: (after: string) => beat((pulse) => anchorChains(services, after, pulse)),
      sweepDrafts: () => sweepDrafts(services),
      collectBlobs: (after: string) => beat((pulse) => collectBlobs(services, after, pulse)),
      grantCredits: (after: string) => beat((pulse) => grantCredits(services, after, pulse)),
    }),
  });
}

export type Activities = ReturnType<typeof makeActivities>;
