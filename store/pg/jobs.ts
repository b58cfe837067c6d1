import { and, desc, eq, inArray, isNull, lt, or, sql } from 'drizzle-orm';
import type pg from 'pg';
import type { Reach } from '../../core/access/reach.ts';
import type { JobKind, JobTypes } from '../../core/jobs/kinds.ts';
import { accounts, jobs, members, workbooks } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';

type JobRow = typeof jobs.$inferSelect;

/** A job with the input and result of its kind. */
export type JobRecord<Kind extends JobKind = JobKind> = {
  [Each in Kind]: Omit<JobRow, 'kind' | 'input' | 'result'> & {
    kind: Each;
    input: JobTypes[Each]['input'];
    result: JobTypes[Each]['result'] | null;
  };
}[Kind];

/** Gives new bytes to a source. */
export type IngestJob = JobRecord<'ingest' | 'file_link'>;

export type VisibleJob = JobRecord & { workspaceId: string | null; policyVersion: number };

export interface JobFilter {
  userId: string;
  /** The caller's accounts: one for a token or key, for a session all of the user's. */
  accountIds: readonly string[];
  reach?: Reach;
  id?: string;
  before?: string | null;
  limit?: number;
}

/** Jobs on workbooks that the user may see, and those of their own accounts; newest first. */
export async function listVisibleJobs(orm: Orm, filter: JobFilter): Promise<VisibleJob[]> {
  const ownAccountJob = and(isNull(jobs.workbookId), eq(accounts.ownerId, filter.userId));
  const visibleWorkbookJob = and(
    isNull(workbooks.deletedAt),
    or(eq(accounts.ownerId, filter.userId), eq(members.userId, filter.userId)),
    or(eq(workbooks.visibility, 'workspace'), eq(workbooks.ownerId, filter.userId)),
  );
  const rows = await orm
    .select({ job: jobs, workspaceId: workbooks.workspaceId, policyVersion: workbooks.policyVersion })
    .from(jobs)
    .innerJoin(accounts, and(eq(accounts.id, jobs.accountId), isNull(accounts.deletedAt)))
    .leftJoin(workbooks, eq(workbooks.id, jobs.workbookId))
    .leftJoin(members, and(eq(members.workspaceId, workbooks.workspaceId), eq(members.userId, filter.userId)))
    .where(
      and(
        or(ownAccountJob, and(eq(workbooks.id, jobs.workbookId), visibleWorkbookJob)),
        inArray(jobs.accountId, [...filter.accountIds]),
        filter.reach?.kind === 'workbook' ? eq(jobs.workbookId, filter.reach.id) : undefined,
        filter.reach?.kind === 'workspace' ? eq(workbooks.workspaceId, filter.reach.id) : undefined,
        filter.id === undefined ? undefined : eq(jobs.id, filter.id),
        filter.before == null ? undefined : lt(jobs.id, filter.before),
      ),
    )
    .orderBy(desc(jobs.id))
    .limit(filter.limit ?? 1000);
  return rows.map(({ job, workspaceId, policyVersion }) => ({ ...(job as JobRecord), workspaceId, policyVersion: policyVersion ?? 0 }));
}

type NewJob<Kind extends JobKind> = Omit<typeof jobs.$inferInsert, 'kind' | 'input'> & {
  kind: Kind;
  input?: JobTypes[Kind]['input'];
};

export async function insertJob<Kind extends JobKind>(tx: Tx, job: NewJob<Kind>): Promise<JobRecord<Kind>> {
  const [row] = await tx.orm.insert(jobs).values(job).returning();
  return row as unknown as JobRecord<Kind>;
}

/** Updates a job unless it has ended. */
export async function updateJob(orm: Orm, id: string, fields: Partial<typeof jobs.$inferInsert>): Promise<void> {
  await orm
    .update(jobs)
    .set(fields)
    .where(and(eq(jobs.id, id), inArray(jobs.status, ['pending', 'running'])));
}

export async function findJob(orm: Orm, id: string): Promise<JobRecord | null> {
  const [job] = await orm.select().from(jobs).where(eq(jobs.id, id));
  return (job as JobRecord | undefined) ?? null;
}

/** A job of a kind that is under way, or waits to be, for a workbook. */
export async function findRunningJob(orm: Orm, workbookId: string, kind: JobKind): Promise<JobRecord | null> {
  const [job] = await orm
    .select()
    .from(jobs)
    .where(and(eq(jobs.workbookId, workbookId), eq(jobs.kind, kind), isNull(jobs.finishedAt)))
    .orderBy(jobs.createdAt)
    .limit(1);
  return (job as JobRecord | undefined) ?? null;
}

/** A job and the version of its row, for waiting until it changes. */
export async function findJobVersion(orm: Orm, id: string): Promise<{ job: JobRecord; version: string } | null> {
  const [row] = await orm
    .select({ job: jobs, version: sql<string>`${jobs}.xmin::text` })
    .from(jobs)
    .where(eq(jobs.id, id));
  return row ? { job: row.job as JobRecord, version: row.version } : null;
}

/** Makes sure that the end of the job is published. False: it has ended already. */
export async function announceJob(orm: Orm, id: string): Promise<boolean> {
  const rows = await orm
    .update(jobs)
    .set({ announce: true })
    .where(and(eq(jobs.id, id), isNull(jobs.finishedAt)))
    .returning({ id: jobs.id });
  return rows.length > 0;
}

/**
 * Lets the next jobs of a user begin, oldest first and whatever account they are of, so that at most `most` are under way.
 * Returns those that are to be started now.
 */
export async function admitJobs(orm: Orm, userId: string, most: number): Promise<JobRecord[]> {
  const { rows } = await orm.execute<{ id: string }>(sql`SELECT svc_admit_jobs(${userId}, ${most}) AS id`);
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return [];
  return (await orm.select().from(jobs).where(inArray(jobs.id, ids)).orderBy(jobs.createdAt)) as JobRecord[];
}

/** Jobs that could be started ten seconds ago and are still pending: their start was probably lost. */
export async function listUnstartedJobs(orm: Orm): Promise<JobRecord[]> {
  const rows = await orm
    .select()
    .from(jobs)
    .where(and(eq(jobs.status, 'pending'), lt(jobs.admittedAt, sql`now() - interval '10 seconds'`)))
    .orderBy(jobs.createdAt)
    .limit(500);
  return rows as JobRecord[];
}

/** Users whose jobs wait for others of theirs to end, or were registered by a process that ended then. */
export async function listWaitingUsers(orm: Orm): Promise<string[]> {
  const rows = await orm
    .selectDistinct({ userId: jobs.userId })
    .from(jobs)
    .where(and(isNull(jobs.finishedAt), isNull(jobs.admittedAt), lt(jobs.createdAt, sql`now() - interval '10 seconds'`)))
    .limit(500);
  return rows.map(({ userId }) => userId);
}

/** Unfinished jobs that could be started ten minutes ago, whose workflow may have been stopped. */
export async function listLongRunningJobs(orm: Orm): Promise<JobRecord[]> {
  const rows = await orm
    .select()
    .from(jobs)
    .where(and(isNull(jobs.finishedAt), lt(jobs.admittedAt, sql`now() - interval '10 minutes'`)))
    .orderBy(jobs.createdAt)
    .limit(500);
  return rows as JobRecord[];
}

/** Jobs of an account that have not ended. */
export async function listUnfinishedJobs(orm: Orm, accountId: string): Promise<JobRecord[]> {
  const rows = await orm
    .select()
    .from(jobs)
    .where(and(eq(jobs.accountId, accountId), isNull(jobs.finishedAt)))
    .orderBy(jobs.createdAt);
  return rows as JobRecord[];
}

/** Accounts that were deleted in the time for which jobs are kept. */
export async function listDeletedAccounts(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    "SELECT input->>'accountId' AS id FROM jobs WHERE kind = 'delete_account' AND status = 'succeeded' ORDER BY id",
  );
  return rows.map(({ id }) => id);
}

/** Not `update`: a job can be ended while a draft of it is being written. */
export async function lockJob(tx: Tx, id: string): Promise<JobRecord | null> {
  const [job] = await tx.orm.select().from(jobs).where(eq(jobs.id, id)).for('no key update');
  return (job as JobRecord | undefined) ?? null;
}

export async function updateJobInTx(tx: Tx, id: string, fields: Partial<typeof jobs.$inferInsert>): Promise<void> {
  await tx.orm.update(jobs).set(fields).where(eq(jobs.id, id));
}

/** Runs in the transaction that writes the job's results. */
export async function finishJob(
  tx: Tx,
  id: string,
  end: Pick<typeof jobs.$inferInsert, 'status' | 'result' | 'error' | 'problem' | 'stage'>,
): Promise<void> {
  const whole = sql`coalesce(${jobs.total}, ${jobs.done})`;
  await tx.orm
    .update(jobs)
    .set({ ...end, finishedAt: tx.at, ...(end.status === 'succeeded' ? { done: whole, total: whole } : {}) })
    .where(eq(jobs.id, id));
}

/** `xmin`, the transaction that wrote the row, is another after every change. */
export async function readJobVersions(pool: pg.Pool, ids: string[]): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ id: string; version: string }>({
    name: 'job_versions',
    text: 'SELECT id, xmin::text AS version FROM jobs WHERE id = ANY($1)',
    values: [ids],
  });
  return new Map(rows.map(({ id, version }) => [id, version]));
}
