import type { idempotency } from '../../schema/index.ts';

type Answer = typeof idempotency.$inferInsert;

/** An answer to keep for repeated requests, but for what only its change can tell. */
export type KeptDraft = Pick<Answer, 'scope' | 'keyHash' | 'requestHash' | 'status' | 'headers' | 'expiresAt'> & {
  body: Buffer;
  policyVersion: number | null;
};

/** The key has an answer, or another transaction works under it. Nothing was changed. */
export class KeyTaken extends Error {}

const keyTaken = 'SV002';

export function explainKeyError(error: unknown): unknown {
  return (error as { code?: string }).code === keyTaken ? new KeyTaken() : error;
}

/** What is locked while somebody works under a key, together with the key's scope. */
export function lockOf(keyHash: Buffer): string {
  return keyHash.readBigInt64BE(0).toString();
}

/**
 * SQL and its parameters, to be joined to a statement that has `taken` parameters itself. `outcome` is SQL over the journal's
 * `noted`, so the answer is kept after the journal was written.
 */
export function keepDraft(draft: KeptDraft, outcome: string, taken: number): { join: string; values: unknown[] } {
  const values = [
    draft.scope,
    draft.keyHash,
    lockOf(draft.keyHash),
    draft.requestHash,
    draft.status,
    JSON.stringify(draft.headers),
    draft.body,
    draft.policyVersion,
    draft.expiresAt,
  ];
  const places = values.map((_, i) => `$${taken + i + 1}`);
  return { join: `CROSS JOIN LATERAL svc_keep_answer(${places.join(', ')}, ${outcome}) AS kept`, values };
}
