import { DomainError, describeFirst } from '../../core/errors.ts';
import type { MaterializeInput } from '../../core/jobs/sourceJobs.ts';
import { toContract, validateChoice } from '../../core/structuring/index.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import { updateSource } from '../../store/pg/sources.ts';
import { beginSourceJob, requireIdle } from './beginSourceJob.ts';

/** Runs inside the transaction. The parse spec must exist and have the chosen regions. */
export async function beginMaterialize(tx: Tx, sourceId: string, wanted: Pick<MaterializeInput, 'regions' | 'append'>): Promise<JobRecord> {
  const source = await requireIdle(tx, sourceId);
  if (!source.spec)
    throw new DomainError('in-use', 'The source is not analyzed yet.', 'Analyze it first with POST …/sources/{source_name}/analyze.');
  const errors = validateChoice(toContract(source.spec), wanted.regions ?? [], '/regions').map(({ pointer, message }) => ({
    pointer,
    detail: message,
  }));
  if (errors.length === 0 && wanted.regions === null && !source.spec.regions.some((region) => region.selected))
    errors.push({ pointer: '/regions', detail: 'no region of the spec is selected' });
  if (errors.length > 0)
    throw new DomainError('validation-failed', describeFirst(errors), 'GET …/parse-spec lists the regions.', {
      errors,
    });
  const job = await beginSourceJob(tx, 'materialize', source, { sourceId, statusBefore: source.status, ...wanted });
  await updateSource(tx, sourceId, { status: 'ingesting', jobId: job.id });
  return job;
}
