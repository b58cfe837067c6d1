import { and, eq, gt, isNotNull, sql } from 'drizzle-orm';
import { idempotency } from '../../schema/index.ts';
import type { Tx } from './commit.ts';
import type { Orm } from './database.ts';

export type StoredAnswer = typeof idempotency.$inferSelect;

export interface AnswerKey {
  scope: string;
  keyHash: Buffer;
}

const matches = (key: AnswerKey) =>
  and(eq(idempotency.scope, key.scope), eq(idempotency.keyHash, key.keyHash), gt(idempotency.expiresAt, sql`now()`));

export async function findAnswer(orm: Orm, key: AnswerKey): Promise<StoredAnswer | null> {
  const [row] = await orm.select().from(idempotency).where(matches(key));
  return row ?? null;
}

/** False while another transaction works under the same key. Held until the transaction ends. */
export async function claimKey(tx: Tx, key: AnswerKey): Promise<boolean> {
  const lock = key.keyHash.readBigInt64BE(0);
  const { rows } = await tx.client.query<{ mine: boolean }>('SELECT pg_try_advisory_xact_lock(hashtextextended($1, $2)) AS mine', [
    key.scope,
    lock.toString(),
  ]);
  return rows[0]?.mine ?? false;
}

/** An expired answer that was not swept yet gives way. */
export async function saveAnswer(tx: Tx, answer: typeof idempotency.$inferInsert): Promise<void> {
  const { scope: _scope, keyHash: _keyHash, ...fields } = answer;
  await tx.orm
    .insert(idempotency)
    .values(answer)
    .onConflictDoUpdate({ target: [idempotency.scope, idempotency.keyHash], set: { ...fields, createdAt: tx.at } });
}

/** Puts the answer in the place of the job that it comes from. False when that has been done. */
export async function answerJob(orm: Orm, key: AnswerKey, answer: Pick<StoredAnswer, 'status' | 'headers' | 'body'>): Promise<boolean> {
  const rows = await orm
    .update(idempotency)
    .set({ ...answer, jobId: null })
    .where(and(matches(key), isNotNull(idempotency.jobId)))
    .returning({ scope: idempotency.scope });
  return rows.length > 0;
}
