import type { JobKind, JobTypes } from '../../core/jobs/kinds.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { insertJob, type JobRecord } from '../../store/pg/jobs.ts';
import { makeId } from '../../store/services.ts';

/**
 * Runs inside the transaction. Registers a job in the name of who asks. `sourceId`: what it is about, for the id of its workflow.
 * `announce`: it is answered before it ends.
 */
export async function beginJob<Kind extends JobKind>(
  tx: Tx,
  kind: Kind,
  place: { workbookId: string; accountId: string; sourceId?: string },
  input: JobTypes[Kind]['input'],
  announce = false,
): Promise<JobRecord<Kind>> {
  const { workbookId, accountId, sourceId } = place;
  const id = makeId('job');
  return insertJob(tx, {
    id,
    kind,
    accountId,
    workbookId,
    userId: tx.actor.userId as string,
    workflowId: [kind, ...(sourceId === undefined ? [] : [sourceId]), id].join('-'),
    input,
    announce,
    actor: { ...tx.actor },
    createdAt: tx.at,
  });
}
