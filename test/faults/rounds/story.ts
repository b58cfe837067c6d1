import type { Caller } from './caller.ts';

/** Something that people do over and over, and what must be true of it in the end. */
export interface Story {
  name: string;
  /** One piece of work. It ends when the work was acknowledged; whatever fails on the way is tried again. */
  work(): Promise<void>;
  /** When everything has come to rest: what was lost, done twice or left halfway. */
  findFaults(): Promise<string[]>;
  /** How much was acknowledged. */
  count(): number;
}

export const book = (workbookId: string) => `/api/v1/workbooks/${workbookId}`;

export async function makeBook(caller: Caller, title: string): Promise<string> {
  return String((await caller.post('/api/v1/workbooks', { title })).id);
}

export async function makeTable(
  caller: Caller,
  workbookId: string,
  name: string,
  columns: { name: string; type: string }[],
): Promise<void> {
  await caller.post(`${book(workbookId)}/tables`, { name, columns });
}

export async function query(caller: Caller, workbookId: string, sql: string): Promise<Record<string, unknown>[]> {
  return (await caller.post(`${book(workbookId)}/query`, { sql })).rows as Record<string, unknown>[];
}

/** Waits until the job has ended, however long it was held up. */
export async function waitForJob(caller: Caller, jobId: string): Promise<Record<string, unknown>> {
  for (const untilMs = Date.now() + 240_000; ; ) {
    const job = await caller.get(`/api/v1/jobs/${jobId}`);
    if (job.finished_at !== null || Date.now() > untilMs) return job;
    await new Promise((done) => setTimeout(done, 250));
  }
}
