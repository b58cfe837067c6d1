import type { Tx } from '../../store/pg/commit.ts';
import { findRunningJob, type JobRecord } from '../../store/pg/jobs.ts';
import { lockGraph } from '../../store/pg/transforms.ts';
import { beginTransformJob } from './beginTransformJob.ts';

/** Runs inside the transaction. One recompute of a workbook at a time: a second request joins the running one. */
export async function beginRecompute(tx: Tx, workbook: { id: string; accountId: string }): Promise<{ job: JobRecord; joined: boolean }> {
  await lockGraph(tx, workbook.id);
  const running = await findRunningJob(tx.orm, workbook.id, 'recompute');
  return running ? { job: running, joined: true } : { job: await beginTransformJob(tx, 'recompute', workbook, {}), joined: false };
}
