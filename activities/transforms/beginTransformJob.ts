import type { TransformInput } from '../../core/jobs/transformJobs.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { JobRecord } from '../../store/pg/jobs.ts';
import { makeId } from '../../store/services.ts';
import { beginJob } from '../jobs/beginJob.ts';
import type { CheckedTransform } from './defineTransform.ts';

interface Place {
  id: string;
  accountId: string;
}

/** Runs inside the transaction: a job that creates or replaces a transform when its run succeeds. */
export function beginCreation(tx: Tx, workbook: Place, { definition, replaced }: CheckedTransform): Promise<JobRecord> {
  return beginTransformJob(tx, workbook, { transformId: replaced?.id ?? makeId('trf'), definition });
}

/** Runs inside the transaction: a job that runs a stored transform. */
export function beginRun(tx: Tx, workbook: Place, transformId: string): Promise<JobRecord> {
  return beginTransformJob(tx, workbook, { transformId, definition: null });
}

function beginTransformJob(tx: Tx, { id, accountId }: Place, input: TransformInput): Promise<JobRecord> {
  return beginJob(tx, 'transform', { workbookId: id, accountId }, input);
}
