import { sql } from 'drizzle-orm';
import { boolean, index, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import type { JobProblem } from '../core/jobs/endings.ts';
import type { JobKind } from '../core/jobs/kinds.ts';
import { at, count } from './columnTypes.ts';
import { accounts, users, workspaces } from './identity.ts';

export const workbooks = pgTable(
  'workbooks',
  {
    id: text('id').primaryKey(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id),
    ownerId: text('owner_id')
      .notNull()
      .references(() => users.id),
    title: text('title').notNull(),
    visibility: text('visibility', { enum: ['workspace', 'private'] }).notNull(),
    /** Raised with every change of tags and policies, and never given twice, not even after a crash; 0 while there never were any. */
    policyVersion: count('policy_version').notNull().default(0),
    createdAt: at('created_at').notNull().defaultNow(),
    updatedAt: at('updated_at').notNull().defaultNow(),
    /** Set: nobody sees the workbook any more; `expireThings` purges it after the retention time. */
    deletedAt: at('deleted_at'),
  },
  (t) => [
    index('workbooks_workspace').on(t.workspaceId, t.id),
    index('workbooks_account').on(t.accountId, t.id),
    index('workbooks_owner').on(t.ownerId, t.id),
    index('workbooks_deleted').on(t.deletedAt),
  ],
);

export interface JobActor {
  name: string;
  userId: string | null;
  credential: string;
  requestId: string;
}

/** Asynchronous operations. The work is done by the workflow. */
export const jobs = pgTable(
  'jobs',
  {
    id: text('id').primaryKey(),
    kind: text('kind').$type<JobKind>().notNull(),
    status: text('status', { enum: ['pending', 'running', 'succeeded', 'failed'] })
      .notNull()
      .default('pending'),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    workbookId: text('workbook_id').references(() => workbooks.id),
    userId: text('user_id')
      .notNull()
      .references(() => users.id),
    workflowId: text('workflow_id').notNull(),
    /** See `core/jobs/kinds.ts`. */
    input: jsonb('input').$type<object>().notNull().default({}),
    /** Who the journal names as the actor of its changes. */
    actor: jsonb('actor').$type<JobActor>(),
    stage: text('stage'),
    done: integer('done').notNull().default(0),
    total: integer('total'),
    result: jsonb('result').$type<object>(),
    error: text('error'),
    /** The problem to answer with, if the job was refused. */
    problem: jsonb('problem').$type<JobProblem>(),
    /** Its request was answered before its end, which is therefore published as an event. */
    announce: boolean('announce').notNull().default(false),
    createdAt: at('created_at').notNull().defaultNow(),
    /** When its workflow could be started; null: earlier jobs of the user come first. */
    admittedAt: at('admitted_at'),
    finishedAt: at('finished_at'),
  },
  (t) => [
    index('jobs_account').on(t.accountId, t.id),
    index('jobs_workbook').on(t.workbookId, t.id),
    index('jobs_unfinished').on(t.createdAt).where(sql`finished_at IS NULL`),
    index('jobs_unfinished_user').on(t.userId, t.createdAt).where(sql`finished_at IS NULL`),
  ],
);
