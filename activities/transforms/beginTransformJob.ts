import type { JobTypes } from '../../core/jobs/kinds.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { insertJob, type JobRecord } from '../../store/pg/jobs.ts';
import { makeId } from '../../store/services.ts';
import type { CheckedTransform } from './defineTransform.ts';

/** Runs inside the transaction. Registers a job in the name of who asks. */
export async function beginTransformJob<Kind extends 'transform' | 'recompute'>(
  tx: Tx,
  kind: Kind,
  workbook: { id: string; accountId: string },
  input: JobTypes[Kind]['input'],
): Promise<JobRecord<Kind>> {
  const id = makeId('job');
  return insertJob(tx, {
    id,
    kind,
    accountId: workbook.accountId,
    workbookId: workbook.id,
    userId: tx.actor.userId as string,
    workflowId: `${kind}-${id}`,
    input,
    actor: { ...tx.actor },
    createdAt: tx.at,
  });
}

/** Runs inside the transaction: a job that creates or replaces a transform when its run succeeds. */
export function beginCreation(
  tx: Tx,
  workbook: { id: string; accountId: string },
  { definition, replaced }: CheckedTransform,
): Promise<JobRecord> {
  return beginTransformJob(tx, 'transform', workbook, { transformId: replaced?.id ?? makeId('trf'), definition });
}
