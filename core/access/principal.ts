import type { Reach } from './reach.ts';
import type { Scope } from './scopes.ts';

/** Who is asking: what a verified credential says, and nothing that the request says. */
export interface Principal {
  kind: 'session' | 'access_token' | 'account_key';
  /** The token's or key's id; a session's `jti`. */
  credentialId: string;
  /** A key acts as the account's owner. */
  userId: string;
  email: string;
  userName: string | null;
  /** The one account of a token or key; a session's default account. */
  accountId: string;
  accountName: string;
  /** Those whose rows it may see at all: of a session, all that its user owns or is a member of. */
  accountIds: readonly string[];
  scopes: Scope[];
  reach: Reach;
  rateLimitPerMinute: number;
  /** When a session ends, so that logging out need not remember it longer. */
  expiresAt: Date | null;
}
