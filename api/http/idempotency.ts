import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import { mayBeRetried } from '../../core/jobs/endings.ts';
import { completeAnswer, type EditOutcome } from '../../core/table/editOutcome.ts';
import { applyStatementChange, type Change, type Tx } from '../../store/pg/commit.ts';
import type { Database } from '../../store/pg/database.ts';
import {
  type AnswerKey,
  answerJob,
  claimKey,
  findAnswer,
  findAnswerInTx,
  type ShownUnder,
  type StoredAnswer,
  saveAnswer,
} from '../../store/pg/idempotency.ts';
import { findJob } from '../../store/pg/jobs.ts';
import { type KeptDraft, KeyTaken } from '../../store/pg/keepDraft.ts';
import { deriveKey, seal, sha256, unseal } from '../../store/secrets.ts';
import type { AnyReply } from './call.ts';

const keptMs = 24 * 3_600_000;

/** A mutating request with an Idempotency-Key. */
export interface Repeatable {
  key: string;
  /** Null until the caller is known, for requests without a credential. */
  scope: string | null;
  requestHash: Buffer;
  /** The workbook that its address names. */
  workbookId: string | null;
}

export function describeRepeatable(
  key: string,
  principal: Principal | null,
  request: { method: string; url: string; ifMatch: string | undefined; print: string | Uint8Array | undefined; workbookId: string | null },
): Repeatable {
  return {
    key,
    scope: principal && `${principal.accountId} ${principal.kind === 'session' ? principal.userId : principal.credentialId}`,
    requestHash: sha256(`${request.method} ${request.url}\n`, request.ifMatch ? `${request.ifMatch}\n` : '', request.print ?? ''),
    workbookId: request.workbookId,
  };
}

function answerKey(repeatable: Repeatable): AnswerKey {
  if (repeatable.scope === null) throw new Error('a public operation did not say whom its idempotency key belongs to');
  return { scope: repeatable.scope, keyHash: sha256('idempotency key\n', repeatable.key) };
}

/** Answers may hold secrets, so they are encrypted with the key itself, of which only a hash is stored. */
const bodyKey = (repeatable: Repeatable) => deriveKey(repeatable.key, 'idempotent answer');
/** A key of their own, so that an older process, which does not know that they are to be completed, cannot open them. */
const draftKey = (repeatable: Repeatable) => deriveKey(repeatable.key, 'idempotent draft');

/** The job that will give the answer. */
export interface AwaitedJob {
  jobId: string;
  /** Another request has begun it. */
  joined: boolean;
}

/** An answer that was stored for repetition. */
export type KeptReply = AnyReply & Pick<StoredAnswer, 'policyVersion'>;

/** The stored answer to the same request, or the job that will give it; null if there is neither. */
export async function replayAnswer(db: Database, repeatable: Repeatable): Promise<KeptReply | AwaitedJob | null> {
  const stored = await findAnswer(db, answerKey(repeatable));
  return stored && readAnswer(repeatable, stored);
}

export function isJob(before: KeptReply | AwaitedJob): before is AwaitedJob {
  return 'jobId' in before;
}

function readAnswer(repeatable: Repeatable, stored: StoredAnswer): KeptReply | AwaitedJob {
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
    policyVersion: stored.policyVersion,
    headers: { ...headers, 'Idempotency-Replayed': 'true' },
    ...(stored.body ? { raw: { type: type ?? 'application/json', data: openBody(repeatable, stored.body, stored.outcome) } } : {}),
  };
}

function openBody(repeatable: Repeatable, body: Buffer, outcome: EditOutcome | null): Buffer {
  if (!outcome) return unseal(bodyKey(repeatable), body);
  const draft = JSON.parse(unseal(draftKey(repeatable), body).toString()) as Parameters<typeof completeAnswer>[0];
  return Buffer.from(JSON.stringify(completeAnswer(draft, outcome)));
}

export function refuseBusyKey(): DomainError {
  return new DomainError(
    'idempotency-in-progress',
    'A request with this Idempotency-Key is being worked on right now.',
    'Wait a moment, then send the same request again to get its answer.',
    { headers: { 'Retry-After': '1' } },
  );
}

/** Runs inside the transaction: makes sure that nobody else runs, or has run, the same request. */
async function claimRepeatable(tx: Tx, repeatable: Repeatable): Promise<KeptReply | AwaitedJob | null> {
  if (!(await claimKey(tx, answerKey(repeatable)))) throw refuseBusyKey();
  const stored = await findAnswerInTx(tx, answerKey(repeatable));
  return stored && readAnswer(repeatable, stored);
}

interface FrozenAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer | null;
}

/** Runs inside the transaction: stores the answer, so that it exists exactly if the effect does. */
async function keepAnswer(tx: Tx, repeatable: Repeatable, answer: FrozenAnswer, shown: ShownUnder): Promise<void> {
  await saveAnswer(
    tx,
    {
      ...answerKey(repeatable),
      requestHash: repeatable.requestHash,
      ...sealAnswer(repeatable, answer),
      jobId: null,
      expiresAt: new Date(tx.at.getTime() + keptMs),
    },
    shown,
  );
}

/** The same for a change that is one statement: what is stored with it, before its outcome is known. */
export function draftAnswer(repeatable: Repeatable, reply: AnyReply): KeptDraft {
  const { status, headers, body } = freezeReply(reply);
  if (!body || reply.policyVersion === undefined) throw new Error('a draft shows something, and says under which policies it was read');
  return {
    ...answerKey(repeatable),
    requestHash: repeatable.requestHash,
    status,
    headers,
    body: seal(draftKey(repeatable), body),
    policyVersion: reply.policyVersion,
    expiresAt: new Date(Date.now() + keptMs),
  };
}

/** What stands in place of the status until the job has given the answer. */
const [begunStatus, joinedStatus] = [202, 200];

/** Runs inside the transaction that begins or joins a job: a repeated request waits for the same job. */
export async function keepJob(tx: Tx, repeatable: Repeatable, { jobId, joined }: AwaitedJob): Promise<void> {
  await saveAnswer(
    tx,
    {
      ...answerKey(repeatable),
      requestHash: repeatable.requestHash,
      status: joined ? joinedStatus : begunStatus,
      headers: {},
      body: null,
      jobId,
      expiresAt: new Date(tx.at.getTime() + keptMs),
    },
    repeatable,
  );
}

/** Stores the first answer of a job. If another request was quicker, returns that answer instead. */
export async function settleAnswer(db: Database, repeatable: Repeatable, reply: AnyReply): Promise<AnyReply | null> {
  if (await answerJob(db.orm, answerKey(repeatable), sealAnswer(repeatable, freezeReply(reply)), shownUnder(repeatable, reply)))
    return null;
  const before = await replayAnswer(db, repeatable);
  return before && !isJob(before) ? before : null;
}

function sealAnswer(repeatable: Repeatable, answer: FrozenAnswer): FrozenAnswer {
  return { ...answer, body: answer.body && seal(bodyKey(repeatable), answer.body) };
}

function shownUnder({ workbookId }: Repeatable, { policyVersion }: AnyReply): ShownUnder {
  return policyVersion === undefined ? { workbookId } : { policyVersion };
}

/** The same request has begun this job already. */
export class BegunBefore extends Error {
  constructor(readonly job: AwaitedJob) {
    super('begun before');
  }
}

/** A change that is made once, however often its request is repeated. */
export function onceOnly<T>(repeatable: Repeatable | null, change: Change<T>): (tx: Tx) => Promise<T> {
  return async (tx) => {
    const before = repeatable && (await claimRepeatable(tx, repeatable));
    if (before && !isJob(before)) throw new KeyTaken();
    const job = before && (await findJob(tx.orm, before.jobId));
    if (before && !(job && mayBeRetried(job))) throw new BegunBefore(before);
    return typeof change === 'function' ? change(tx) : applyStatementChange(tx, change);
  };
}

/** Runs inside the transaction: stores the answer for repeated requests; the first one gets the same bytes. */
export async function keepReply(tx: Tx, repeatable: Repeatable | null, reply: AnyReply): Promise<AnyReply> {
  if (!repeatable) return reply;
  const answer = freezeReply(reply);
  await keepAnswer(tx, repeatable, answer, shownUnder(repeatable, reply));
  return {
    status: answer.status,
    headers: reply.headers,
    ...(answer.body ? { raw: { type: 'application/json', data: answer.body } } : {}),
  };
}

/** The answer as bytes, so that repeated requests get exactly the same. */
function freezeReply(reply: AnyReply): FrozenAnswer {
  if (reply.raw) throw new Error('answers that are kept for repetition must be JSON');
  return {
    status: reply.status,
    headers: { ...reply.headers, ...(reply.body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    body: reply.body === undefined ? null : Buffer.from(JSON.stringify(reply.body)),
  };
}
