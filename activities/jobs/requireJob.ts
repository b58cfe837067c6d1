import type { Principal } from '../../core/access/principal.ts';
import { reachesWorkbook } from '../../core/access/reach.ts';
import { notFound } from '../../core/errors.ts';
import { listVisibleJobs, type VisibleJob } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';
import { outsideReach, requireAccountReach } from '../access.ts';
import { hideWords } from './hideWords.ts';

export async function requireJob(services: Services, principal: Principal, jobId: string): Promise<VisibleJob> {
  const [job] = await listVisibleJobs(services.db.orm, {
    userId: principal.userId,
    accountIds: principal.accountIds,
    id: jobId,
    limit: 1,
  });
  if (!job) throw notFound('job', 'Check the id; jobs are kept for a week after they end.');
  if (job.workbookId === null) requireAccountReach(principal);
  else if (!reachesWorkbook(principal.reach, { id: job.workbookId, workspaceId: job.workspaceId ?? '' }))
    throw outsideReach(principal, "The job's workbook");
  return hideWords(job, principal.userId);
}
