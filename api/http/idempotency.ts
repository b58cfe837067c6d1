import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { Orm } from '../../store/pg/database.ts';
import { type AnswerKey, answerJob, claimKey, findAnswer, type StoredAnswer, saveAnswer } from '../../store/pg/idempotency.ts';
import { deriveKey, seal, sha256, unseal } from '../../store/secrets.ts';
import type { AnyReply } from './call.ts';

const keptMs = 24 * 3_600_000;

/** A mutating request with an Idempotency-Key. */
export interface Repeatable {
  key: string;
  /** Null until the caller is known, for requests without a credential. */
  scope: string | null;
  requestHash: Buffer;
}

export function describeRepeatable(
  key: string,
  principal: Principal | null,
  request: { method: string; url: string; ifMatch: string | undefined; print: string | Uint8Array | undefined },
): Repeatable {
  return {
    key,
    scope: principal && `${principal.accountId} ${principal.kind === 'session' ? principal.userId : principal.credentialId}`,
    requestHash: sha256(`${request.method} ${request.url}\n`, request.ifMatch ? `${request.ifMatch}\n` : '', request.print ?? ''),
  };
}

function answerKey(repeatable: Repeatable): AnswerKey {
  if (repeatable.scope === null) throw new Error('a public operation did not say whom its idempotency key belongs to');
  return { scope: repeatable.scope, keyHash: sha256('idempotency key\n', repeatable.key) };
}

/** Answers may hold secrets, so they are encrypted with the key itself, of which only a hash is stored. */
const bodyKey = (repeatable: Repeatable) => deriveKey(repeatable.key, 'idempotent answer');

/** The job that will give the answer. */
export interface AwaitedJob {
  jobId: string;
  /** Another request has begun it. */
  joined: boolean;
}

/** The stored answer to the same request, or the job that will give it; null if there is neither. */
export async function replayAnswer(orm: Orm, repeatable: Repeatable): Promise<AnyReply | AwaitedJob | null> {
  const stored = await findAnswer(orm, answerKey(repeatable));
  return stored && readAnswer(repeatable, stored);
}

export function isJob(before: AnyReply | AwaitedJob): before is AwaitedJob {
  return 'jobId' in before;
}

function readAnswer(repeatable: Repeatable, stored: StoredAnswer): AnyReply | AwaitedJob {
  if (!stored.requestHash.equals(repeatable.requestHash)) {
    throw new DomainError(
      'idempotency-mismatch',
      'This Idempotency-Key was used for another request.',
      'Use a new key for a new request; repeat a request with exactly the same body.',
    );
  }
  if (stored.jobId) return { jobId: stored.jobId, joined: stored.status === joinedStatus };
  const { 'Content-Type': type, ...headers } = stored.headers;
  return {
    status: stored.status,
    headers: { ...headers, 'Idempotency-Replayed': 'true' },
    ...(stored.body ? { raw: { type: type ?? 'application/json', data: unseal(bodyKey(repeatable), stored.body) } } : {}),
  };
}

/** Runs inside the transaction: makes sure that nobody else runs, or has run, the same request. */
export async function claimRepeatable(tx: Tx, repeatable: Repeatable): Promise<AnyReply | AwaitedJob | null> {
  if (!(await claimKey(tx, answerKey(repeatable)))) {
    throw new DomainError(
      'idempotency-in-progress',
      'A request with this Idempotency-Key is being worked on right now.',
      'Wait a moment, then send the same request again to get its answer.',
      { headers: { 'Retry-After': '1' } },
    );
  }
  return replayAnswer(tx.orm, repeatable);
}

export interface FrozenAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer | null;
}

/** Runs inside the transaction: stores the answer, so that it exists exactly if the effect does. */
export async function keepAnswer(tx: Tx, repeatable: Repeatable, answer: FrozenAnswer): Promise<void> {
  await saveAnswer(tx, {
    ...answerKey(repeatable),
    requestHash: repeatable.requestHash,
    ...sealAnswer(repeatable, answer),
    jobId: null,
    expiresAt: new Date(tx.at.getTime() + keptMs),
  });
}

/** What stands in place of the status until the job has given the answer. */
const [begunStatus, joinedStatus] = [202, 200];

/** Runs inside the transaction that begins or joins a job: a repeated request waits for the same job. */
export async function keepJob(tx: Tx, repeatable: Repeatable, { jobId, joined }: AwaitedJob): Promise<void> {
  await saveAnswer(tx, {
    ...answerKey(repeatable),
    requestHash: repeatable.requestHash,
    status: joined ? joinedStatus : begunStatus,
    headers: {},
    body: null,
    jobId,
    expiresAt: new Date(tx.at.getTime() + keptMs),
  });
}

/** Stores the first answer of a job. If another request was quicker, returns that answer instead. */
export async function settleAnswer(orm: Orm, repeatable: Repeatable, answer: FrozenAnswer): Promise<AnyReply | null> {
  if (await answerJob(orm, answerKey(repeatable), sealAnswer(repeatable, answer))) return null;
  const before = await replayAnswer(orm, repeatable);
  return before && !isJob(before) ? before : null;
}

function sealAnswer(repeatable: Repeatable, answer: FrozenAnswer): FrozenAnswer {
  return { ...answer, body: answer.body && seal(bodyKey(repeatable), answer.body) };
}
