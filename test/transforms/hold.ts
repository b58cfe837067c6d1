import type pg from 'pg';
import { expect, onTestFinished } from 'vitest';

/** Keeps the runs of a job from being committed until they are let go: by a lock on the job, as it could happen. */
export interface HeldJob<T> {
  jobId: string;
  /** What was asked for; it comes when the runs are let go. */
  answer: Promise<T>;
  /** Waits until so many runs have read their inputs and are about to commit. */
  waitForRuns(count: number): Promise<void>;
  letGo(): Promise<void>;
}

/** Holds the runs of the job that `ask` begins, the only one of the workbook that is not over. */
export async function holdRuns<T>(sql: pg.Pool, workbookId: string, ask: () => Promise<T>): Promise<HeldJob<T>> {
  // Nothing is run before what has been run is looked up.
  const gate = await openTransaction(sql, 'LOCK TABLE job_drafts IN ACCESS EXCLUSIVE MODE');
  const answer = ask();
  // Its failure is for whoever waits for it.
  answer.catch(() => {});
  const find = async () =>
    (await sql.query<{ id: string }>("SELECT id FROM jobs WHERE workbook_id = $1 AND status = 'running'", [workbookId])).rows;
  await expect.poll(async () => (await find()).length).toBe(1);
  const jobId = (await find())[0]?.id ?? '';
  const job = await openTransaction(sql, 'SELECT 1 FROM jobs WHERE id = $1 FOR NO KEY UPDATE', [jobId]);
  await gate.close();
  return {
    jobId,
    answer,
    async waitForRuns(count) {
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ILIKE '%"jobs"%for no key update%'`;
      await expect.poll(async () => (await sql.query(waiting)).rowCount).toBe(count);
    },
    letGo: job.close,
  };
}

/** Runs a statement in a transaction that stays open until it is closed, with its locks. */
export async function openTransaction(sql: pg.Pool, statement: string, values: string[] = []): Promise<{ close(): Promise<void> }> {
  const client = await sql.connect();
  await client.query('BEGIN');
  await client.query(statement, values);
  let isOpen = true;
  const close = async () => {
    if (!isOpen) return;
    isOpen = false;
    await client.query('ROLLBACK');
    client.release();
  };
  // A test that failed lets go as well.
  onTestFinished(close);
  return { close };
}
