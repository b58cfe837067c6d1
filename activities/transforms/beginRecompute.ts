import type { Tx } from '../../store/pg/commit.ts';
import { findRunningJob, type JobRecord } from '../../store/pg/jobs.ts';
import { lockGraph } from '../../store/pg/transforms.ts';
import { beginJob } from '../jobs/beginJob.ts';

/** Runs inside the transaction. One recompute of a workbook at a time: a second request joins the running one. */
export async function beginRecompute(tx: Tx, workbook: { id: string; accountId: string }): Promise<{ job: JobRecord; joined: boolean }> {
  const { id: workbookId, accountId } = workbook;
  await lockGraph(tx, workbookId);
  const running = await findRunningJob(tx.orm, workbookId, 'recompute');
  return running ? { job: running, joined: true } : { job: await beginJob(tx, 'recompute', { workbookId, accountId }, {}), joined: false };
}
