import type { Principal } from '../../core/access/principal.ts';
import { containsReach, formatReach, type Reach } from '../../core/access/reach.ts';
import { missingScopes, type Scope } from '../../core/access/scopes.ts';
import { DomainError } from '../../core/errors.ts';
import { credentialMinted } from '../../core/journal/identityNotes.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { insertCredential, type ListedCredential } from '../../store/pg/credentials.ts';
import { makeId } from '../../store/services.ts';
import { makeTokenText } from './tokenText.ts';

export interface MintRequest {
  kind: 'access_token' | 'account_key';
  accountId: string;
  userId: string;
  name: string | null;
  scopes: Scope[];
  reach: Reach;
  /** The workspace of a workbook that the credential is limited to. */
  reachWorkspaceId: string | null;
  rateLimitPerMinute: number;
  expiresAt: Date | null;
}

/** Bounds what every request has to look up and count. */
const mostAncestors = 8;

/** A session may mint anything; a token or key nothing beyond itself. */
export function checkMint(issuer: Principal, wanted: MintRequest): void {
  if (issuer.kind === 'session') return;
  const beyond = missingScopes(issuer.scopes, wanted.scopes);
  if (beyond.length > 0) {
    throw new DomainError(
      'missing-scope',
      `The issuing credential does not hold ${beyond.join(', ')}.`,
      "Ask for scopes that the issuing credential holds, or mint from the owner's session.",
      { members: { missing_scope: beyond.join(' ') } },
    );
  }
  if (issuer.ancestors.length >= mostAncestors) {
    throw new DomainError(
      'outside-reach',
      `The issuing credential was minted by the ${mostAncestors}th of a row of credentials, each minted by the one before; the row ends here.`,
      "Mint with an earlier one, or from the owner's session.",
    );
  }
  if (!containsReach(issuer.reach, wanted.reach, wanted.reachWorkspaceId)) {
    throw new DomainError(
      'outside-reach',
      `${formatReach(wanted.reach)} lies outside the issuing credential's reach, ${formatReach(issuer.reach)}.`,
      "Mint within that reach, or from the owner's session.",
    );
  }
}

export interface Minted {
  record: ListedCredential;
  text: string;
}

export async function mintCredential(tx: Tx, issuer: Principal, wanted: MintRequest): Promise<Minted> {
  const id = makeId(wanted.kind === 'access_token' ? 'tok' : 'key');
  const { text, secretHash, prefix } = makeTokenText(id);
  // A minted credential never outlives or outpaces its issuer, with which it shares the allowance.
  const expiresAt = earlier(wanted.expiresAt, issuer.kind === 'session' ? null : issuer.expiresAt);
  const record = await insertCredential(tx, {
    id,
    kind: wanted.kind,
    accountId: wanted.accountId,
    userId: wanted.userId,
    name: wanted.name,
    secretHash,
    prefix,
    scopes: wanted.scopes,
    resource: formatReach(wanted.reach),
    rateLimitPerMinute:
      issuer.kind === 'session' ? wanted.rateLimitPerMinute : Math.min(wanted.rateLimitPerMinute, issuer.rateLimitPerMinute),
    issuedBy: issuer.credentialId,
    ancestors: issuer.kind === 'session' ? [] : [...issuer.ancestors.map((ancestor) => ancestor.id), issuer.credentialId],
    createdAt: tx.at,
    expiresAt,
  });
  tx.note(wanted.accountId, credentialMinted(record));
  return { record: { ...record, lastUsedAt: null }, text };
}

function earlier(a: Date | null, b: Date | null): Date | null {
  if (!a || !b) return a ?? b;
  return a < b ? a : b;
}
