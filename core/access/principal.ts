import type { Reach } from './reach.ts';
import type { Scope } from './scopes.ts';

/** Who is asking. Comes from a verified credential only, never from the request. */
export interface Principal {
  kind: 'session' | 'access_token' | 'account_key';
  /** The id of the token or key, or the `jti` of a session. */
  credentialId: string;
  /** A key acts as the account's owner. */
  userId: string;
  email: string;
  userName: string | null;
  /** The account of a token or key; for a session its default account. */
  accountId: string;
  accountName: string;
  /** The accounts whose rows it may see; for a session all that its user owns or is a member of. */
  accountIds: readonly string[];
  scopes: Scope[];
  reach: Reach;
  rateLimitPerMinute: number;
  /** The tokens and keys by which it was minted: its requests count as theirs, too. */
  ancestors: readonly { id: string; rateLimitPerMinute: number }[];
  /** When a session ends: logging out must be remembered until then. */
  expiresAt: Date | null;
}
