import { Context } from '@temporalio/activity';
import type { Services } from '../store/services.ts';
import { inAccountOf, inAllAccounts } from './accountScope.ts';
import { deleteWorkbooks } from './accounts/deleteWorkbooks.ts';
import { endAccountWork } from './accounts/endAccountWork.ts';
import { forfeitCredits } from './accounts/forfeitCredits.ts';
import { removeAccount } from './accounts/removeAccount.ts';
import { revokeAccess } from './accounts/revokeAccess.ts';
import { withHeartbeat } from './activityContext.ts';
import { anchorChains } from './audit/anchorChains.ts';
import { orderTopups } from './billing/orderTopups.ts';
import { payCharges } from './billing/payCharges.ts';
import { settlePeriods } from './billing/settlePeriods.ts';
import { startPayments } from './billing/startPayments.ts';
import { compactTable } from './compaction/compactTable.ts';
import { sweepTables } from './compaction/startCompaction.ts';
import { concealErrors } from './concealErrors.ts';
import { grantCredits } from './credits/grantCredits.ts';
import { followFiles } from './fileLinks/followFiles.ts';
import { analyzeSource } from './ingest/analyzeSource.ts';
import { abandonIngest, failIngest, fallBackIngest } from './ingest/endIngest.ts';
import { failSourceJob } from './ingest/failSourceJob.ts';
import { landRaw } from './ingest/landRaw.ts';
import { materializeSource } from './ingest/materializeSource.ts';
import { prepareTables } from './ingest/prepareTables.ts';
import { promote } from './ingest/promote.ts';
import { structure } from './ingest/structure.ts';
import { sweepJobs } from './jobs/sweepJobs.ts';
import { thenStartNext } from './jobs/thenStartNext.ts';
import { collectBlobs, collectVersions, sweepDrafts } from './maintenance/collectGarbage.ts';
import { expireThings } from './maintenance/expireThings.ts';
import { failReview } from './review/endReview.ts';
import { reviewTables } from './review/reviewTables.ts';
import { beginRuns } from './transforms/chooseRuns.ts';
import { failTransformJob, finishTransformJob } from './transforms/endTransformJob.ts';
import { giveUpRun, rerunTransform, runTransform } from './transforms/runTransform.ts';
import { type RollUpPlace, rollUpUsage } from './usage/rollUpUsage.ts';
import { sampleUsage } from './usage/sampleUsage.ts';
import { deliverDue } from './webhooks/deliverDue.ts';

/** The activities that workflows call, with the services of this process. */
export function makeActivities(services: Services) {
  return concealErrors({
    ...inAccountOf(
      services,
      'jobs',
      thenStartNext(services, {
        revokeAccess: (jobId: string) => withHeartbeat((activity) => revokeAccess(services, jobId, activity)),
        endAccountWork: (jobId: string) => withHeartbeat((activity) => endAccountWork(services, jobId, activity)),
        deleteWorkbooks: (jobId: string) => withHeartbeat((activity) => deleteWorkbooks(services, jobId, activity)),
        forfeitCredits: (jobId: string) => forfeitCredits(services, jobId),
        removeAccount: (jobId: string) => withHeartbeat((activity) => removeAccount(services, jobId, activity)),
        prepareTables: (jobId: string) => withHeartbeat((activity) => prepareTables(services, jobId, activity)),
        landRaw: (jobId: string) => withHeartbeat(async (activity) => ((await landRaw(services, jobId, activity)) ? 'structure' : 'over')),
        structure: (jobId: string) => withHeartbeat((activity) => structure(services, jobId, activity)),
        promote: (jobId: string) => withHeartbeat(() => promote(services, jobId)),
        fallBackIngest: (jobId: string, reason: string) => fallBackIngest(services, jobId, reason),
        failIngest: (jobId: string) => failIngest(services, jobId),
        abandonIngest: (jobId: string) => abandonIngest(services, jobId, 'cancelled'),
        analyzeSource: (jobId: string) => withHeartbeat((activity) => analyzeSource(services, jobId, activity)),
        materializeSource: (jobId: string) => withHeartbeat((activity) => materializeSource(services, jobId, activity)),
        runTransform: (jobId: string) => withHeartbeat((activity) => runTransform(services, jobId, activity)),
        rerunTransform: (jobId: string, transformId: string, isAlone = false) =>
          withHeartbeat((activity) => rerunTransform(services, jobId, { transformId, isAlone }, activity)),
        giveUpRun: (jobId: string, transformId: string) => giveUpRun(services, jobId, transformId),
        beginRuns: (jobId: string) => beginRuns(services, jobId),
        finishTransformJob: (jobId: string) => finishTransformJob(services, jobId),
        failTransformJob: (jobId: string, reason: 'failed' | 'cancelled') => failTransformJob(services, jobId, reason),
        reviewTables: (jobId: string) => withHeartbeat((activity) => reviewTables(services, jobId, activity)),
        failReview: (jobId: string, reason: 'failed' | 'cancelled') => failReview(services, jobId, reason),
        failSourceJob: (jobId: string, reason: 'failed' | 'cancelled') => failSourceJob(services, jobId, reason),
      }),
    ),
    ...inAccountOf(services, 'tables', {
      compactTable: (tableId: string) => withHeartbeat((activity) => compactTable(services, tableId, activity)),
    }),
    ...inAllAccounts({
      expireThings: () => expireThings(services, () => Context.current().heartbeat()),
      sweepJobs: () => withHeartbeat((activity) => sweepJobs(services, activity)),
      sweepTables: () => withHeartbeat((activity) => sweepTables(services, activity)),
      collectVersions: () => withHeartbeat((activity) => collectVersions(services, activity)),
      anchorChains: (after: string) => withHeartbeat((activity) => anchorChains(services, after, activity)),
      sweepDrafts: () => sweepDrafts(services),
      collectBlobs: (after: string) => withHeartbeat((activity) => collectBlobs(services, after, activity)),
      rollUpUsage: (from: RollUpPlace | null) => withHeartbeat((activity) => rollUpUsage(services, from, activity)),
      sampleUsage: (after: string) => withHeartbeat((activity) => sampleUsage(services, after, activity)),
      followFiles: () => withHeartbeat((activity) => followFiles(services, activity)),
      settlePeriods: (after: string) => withHeartbeat((activity) => settlePeriods(services, after, activity)),
      orderTopups: (after: string) => withHeartbeat((activity) => orderTopups(services, after, activity)),
      startPayments: (after: string) => withHeartbeat((activity) => startPayments(services, after, activity)),
      payCharges: (accountId: string) => withHeartbeat((activity) => payCharges(services, accountId, activity)),
      grantCredits: (after: string) => withHeartbeat((activity) => grantCredits(services, after, activity)),
    }),
  });
}

export type Activities = ReturnType<typeof makeActivities>;

/** Those that are run from a queue of their own, with many places, because they mostly wait for others. */
export function makeDeliveryActivities(services: Services) {
  return concealErrors(
    inAccountOf(services, 'webhooks', {
      deliverDue: (webhookId: string) => withHeartbeat((activity) => deliverDue(services, webhookId, activity)),
    }),
  );
}

export type DeliveryActivities = ReturnType<typeof makeDeliveryActivities>;
