import { type Ending, endings, type JobProblem } from '../../core/jobs/endings.ts';
import type { Recomputed, RunOutcome } from '../../core/jobs/transformJobs.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import { listDrafts } from '../../store/pg/sources.ts';
import { listStaleReports } from '../../store/pg/transforms.ts';
import type { Services } from '../../store/services.ts';
import { commitForJob, openJob } from '../jobs/commitForJob.ts';
import { failJob, succeedJob } from '../jobs/endJob.ts';
import { ownStage } from './commitRun.ts';
import type { RunJob } from './runJob.ts';

const reasons: Record<'failed' | Ending, JobProblem> = {
  ...endings,
  failed: { code: 'unavailable', detail: 'The transform could not be run just now.', suggestedFix: 'Try again in a moment.' },
};

/** Ends a job of transforms whose workflow failed, was cancelled or is gone. What was run stays. */
export async function failTransformJob(services: Services, jobId: string, reason: 'failed' | Ending): Promise<void> {
  const job = await openJob(services, jobId, 'transform', 'recompute', 'restore');
  if (job) await endTransformJob(services, job, reasons[reason]);
}

export async function endTransformJob(services: Services, job: RunJob, problem: JobProblem, error?: string): Promise<void> {
  await commitForJob(services, job, (tx, current) => failJob(tx, current as JobRecord, problem, error));
}

/** Ends a job whose runs are done, with what they came to. */
export async function finishTransformJob(services: Services, jobId: string): Promise<void> {
  const job = await openJob(services, jobId, 'transform', 'recompute', 'restore');
  if (!job) return;
  await commitForJob(services, job, async (tx, current) => {
    const drafts = await listDrafts<RunOutcome>(tx.orm, jobId);
    const others = sumUp(drafts.filter(({ stage }) => stage !== ownStage).map(({ draft }) => draft));
    if (current.kind === 'recompute')
      return succeedJob(tx, current, { ...others, skippedReports: await listStaleReports(tx.orm, current.workbookId ?? '') });
    if (current.kind === 'restore')
      return succeedJob(tx, current, { ...current.input, recomputed: others.recomputed, failed: others.failed });
    const own = drafts.find(({ stage }) => stage === ownStage)?.draft;
    if (!own?.output) throw new Error(`job ${jobId} has no run of its own`);
    const { transformId, created, output, opId } = own;
    await succeedJob(tx, current, { ...others, transformId, created, output, opId, conflicts: [...own.conflicts, ...others.conflicts] });
  });
}

function sumUp(unordered: RunOutcome[]): Recomputed {
  const outcomes = unordered.toSorted((a, b) => a.at.localeCompare(b.at));
  return {
    recomputed: outcomes.flatMap(({ output }) => output ?? []),
    failed: outcomes.flatMap(({ failed }) => failed ?? []),
    conflicts: outcomes.flatMap(({ conflicts }) => conflicts),
  };
}
