import type { Principal } from '../../core/access/principal.ts';
import { DomainError } from '../../core/errors.ts';
import { deriveKey, sha256 } from '../../store/secrets.ts';

/** A session of MCP. All processes know it: it lies in the database. */
export interface McpSession {
  idHash: Buffer;
  /** Encrypts what is kept of it. */
  key: Buffer;
  accountId: string;
  credentialId: string;
}

/** How many sessions a credential has; an older one ends when one more begins. */
export const mostSessions = 50;
export const idleMs = 24 * 3_600_000;
export const noteEveryMs = 60_000;

export function describeSession({ accountId, credentialId }: Principal, id: string): McpSession {
  return { idHash: sha256('mcp session\n', id), key: deriveKey(id, 'mcp session'), accountId, credentialId };
}

export function sessionEnded(): DomainError {
  return new DomainError(
    'not-found',
    'There is no such session: it has ended, or is one of another credential.',
    'Begin again with `initialize`.',
  );
}
