import { updateJob } from '../../store/pg/jobs.ts';
import { makeId, type Services } from '../../store/services.ts';

/**
 * Half an account must not stay. A deletion whose workflow was stopped by somebody is begun again by the sweep, under another id,
 * because Temporal gives none twice.
 */
export async function resumeDeletion(services: Services, jobId: string): Promise<void> {
  await updateJob(services.db.orm, jobId, { status: 'pending', workflowId: `delete_account-${jobId}-${makeId('evt')}` });
}
