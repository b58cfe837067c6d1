import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { onTestFinished } from 'vitest';

/** Keeps work at the end of a stage until it is let go: by locks that another transaction holds, as it could happen. */
export interface Hold {
  /** Somebody waits for it. */
  reached(): Promise<void>;
  letGo(): Promise<void>;
}

/** Before what was read (`raw`) or structured (`tables`) is written down. */
export async function holdDraft(sql: pg.Pool, jobId: string, stage: 'raw' | 'tables'): Promise<Hold> {
  return holdBy(sql, "INSERT INTO job_drafts (job_id, stage, draft) VALUES ($1, $2, '{}')", [jobId, stage]);
}

/** Before the tables of a workbook change: what is structured cannot be promoted. */
export async function holdTables(sql: pg.Pool, workbookId: string): Promise<Hold> {
  return holdBy(sql, 'SELECT 1 FROM tables WHERE workbook_id = $1 FOR UPDATE', [workbookId]);
}

/** Before a source changes. */
export async function holdSource(sql: pg.Pool, sourceId: string): Promise<Hold> {
  return holdBy(sql, 'SELECT 1 FROM sources WHERE id = $1 FOR UPDATE', [sourceId]);
}

async function holdBy(sql: pg.Pool, statement: string, values: string[]): Promise<Hold> {
  const client = await sql.connect();
  await client.query('BEGIN');
  await client.query(statement, values);
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const reached = async () => {
    const waiting = 'SELECT 1 FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))';
    while ((await sql.query(waiting, [rows[0]?.pid])).rowCount === 0) await delay(50);
  };
  let isHeld = true;
  const letGo = async () => {
    if (!isHeld) return;
    isHeld = false;
    await client.query('ROLLBACK');
    client.release();
  };
  // A test that failed lets go as well.
  onTestFinished(letGo);
  return { reached, letGo };
}
