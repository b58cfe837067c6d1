import { inAccount } from '../../store/pg/accountScope.ts';
import { type JobRecord, updateJob } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';
import { openJob } from '../jobs/commitForJob.ts';

export interface Deletion {
  job: JobRecord<'delete_account'>;
  accountId: string;
  report(done: number, total: number): Promise<void>;
}

/**
 * Works on a step of a deletion, with the rows of the account that is deleted; the job is of another account. Null: the deletion
 * is over.
 */
export async function inClosedAccount<T>(
  services: Services,
  jobId: string,
  stage: string,
  work: (deletion: Deletion) => Promise<T>,
): Promise<T | null> {
  const job = await openJob(services, jobId, 'delete_account');
  if (!job) return null;
  const { orm } = services.db;
  await updateJob(orm, jobId, { status: 'running', stage });
  const { accountId } = job.input;
  const report = (done: number, total: number) => inAccount(job.accountId, () => updateJob(orm, jobId, { done, total }));
  return inAccount(accountId, () => work({ job, accountId, report }));
}
