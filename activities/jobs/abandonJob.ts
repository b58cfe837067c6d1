import { type JobRecord, updateJob } from '../../store/pg/jobs.ts';
import type { Services } from '../../store/services.ts';
import { abandonIngest } from '../ingest/endIngest.ts';
import { failSourceJob } from '../sources/failSourceJob.ts';
import { type Ending, endings } from './endings.ts';

/** Ends a job that no workflow is going to end. One that has ended meanwhile stays as it ended. */
export async function abandonJob(services: Services, job: JobRecord, why: Ending): Promise<void> {
  if (job.kind === 'ingest') return abandonIngest(services, job.id, why);
  if (job.kind === 'analyze' || job.kind === 'materialize') return failSourceJob(services, job.id, why);
  const problem = endings[why];
  await updateJob(services.db.orm, job.id, { status: 'failed', error: problem.detail, problem, finishedAt: new Date() });
}
