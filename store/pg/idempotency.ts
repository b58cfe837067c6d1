import { and, eq, gt, isNotNull, sql } from 'drizzle-orm';
import { idempotency, workbooks } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Database, Orm } from './database.ts';
import { lockOf } from './keepDraft.ts';
import { defineLookup } from './lookups.ts';
import { selectColumns } from './selectColumns.ts';

export type StoredAnswer = typeof idempotency.$inferSelect;

export interface AnswerKey {
  scope: string;
  keyHash: Buffer;
}

const matches = (key: AnswerKey) =>
  and(eq(idempotency.scope, key.scope), eq(idempotency.keyHash, key.keyHash), gt(idempotency.expiresAt, sql`now()`));

/** By scope and hash. */
const answerOf = defineLookup<StoredAnswer>(
  'kept_answer',
  `SELECT ${selectColumns(idempotency, 'i')} FROM idempotency i WHERE i.scope = k.a AND i.key_hash = k.hash AND i.expires_at > now() LIMIT 1`,
  ["decode(b, 'hex') AS hash"],
);

export async function findAnswer(db: Database, key: AnswerKey): Promise<StoredAnswer | null> {
  return db.lookUpInAccounts(answerOf, key.scope, key.keyHash.toString('hex'));
}

/** Runs inside the transaction, and so sees what the last holder of the key has written. */
export async function findAnswerInTx(tx: Tx, key: AnswerKey): Promise<StoredAnswer | null> {
  const [row] = await tx.orm.select().from(idempotency).where(matches(key));
  return row ?? null;
}

/** Locks a key until the transaction ends. Returns false if another transaction holds it. */
export async function claimKey(tx: Tx, key: AnswerKey): Promise<boolean> {
  const { rows } = await tx.client.query<{ mine: boolean }>('SELECT pg_try_advisory_xact_lock(hashtextextended($1, $2)) AS mine', [
    key.scope,
    lockOf(key.keyHash),
  ]);
  return rows[0]?.mine ?? false;
}

const policyVersionOf = (workbookId: string | null) =>
  sql<number | null>`(SELECT ${workbooks.policyVersion} FROM ${workbooks} WHERE ${workbooks.id} = ${workbookId})`;

export async function findPolicyVersion(orm: Orm, workbookId: string | null): Promise<number | null> {
  if (workbookId === null) return null;
  const [row] = await orm.select({ version: workbooks.policyVersion }).from(workbooks).where(eq(workbooks.id, workbookId));
  return row?.version ?? null;
}

/** What decides whether an answer may be shown again: the version under which it was read, or that of the workbook now. */
export type ShownUnder = { policyVersion: number | null } | { workbookId: string | null };

const versionOf = (shown: ShownUnder) => ('policyVersion' in shown ? shown.policyVersion : policyVersionOf(shown.workbookId));

/** Overwrites an expired answer that was not deleted yet. */
export async function saveAnswer(tx: Tx, given: typeof idempotency.$inferInsert, shown: ShownUnder): Promise<void> {
  const answer = { ...given, outcome: null, policyVersion: versionOf(shown) };
  const { scope: _scope, keyHash: _keyHash, ...fields } = answer;
  await tx.orm
    .insert(idempotency)
    .values(answer)
    .onConflictDoUpdate({ target: [idempotency.scope, idempotency.keyHash], set: { ...fields, createdAt: tx.at } });
}

/** Stores the final answer of a request that waited for a job. Returns false if that was done already. */
export async function answerJob(
  orm: Orm,
  key: AnswerKey,
  answer: Pick<StoredAnswer, 'status' | 'headers' | 'body'>,
  shown: ShownUnder,
): Promise<boolean> {
  const rows = await orm
    .update(idempotency)
    .set({ ...answer, jobId: null, policyVersion: versionOf(shown) })
    .where(and(matches(key), isNotNull(idempotency.jobId)))
    .returning({ scope: idempotency.scope });
  return rows.length > 0;
}
