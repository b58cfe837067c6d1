import type { Principal } from '../../core/access/principal.ts';
import { formatReach, parseReach, type Reach } from '../../core/access/reach.ts';
import { defaultTokenScopes, type Scope } from '../../core/access/scopes.ts';
import { DomainError } from '../../core/errors.ts';
import { requireName } from '../../core/names.ts';
import type { AccountRecord } from '../../store/pg/accounts.ts';
import type { Services } from '../../store/services.ts';
import { requireAccountReach, requireNamedWorkbook, requireNamedWorkspace } from '../access.ts';
import { checkMint, type MintRequest } from './mintCredential.ts';

const defaultTokenDays = 90;
const defaultRateLimit = 600;
const dayMs = 24 * 3_600_000;

export interface TokenWanted {
  name: string;
  scopes?: Scope[] | null;
  /** Default: the issuer's reach. */
  resource?: string | null;
  rateLimitPerMinute?: number | null;
  expiresInDays?: number | null;
}

/** Checks that the issuer may mint the token, and fills in defaults. */
export async function planToken(services: Services, issuer: Principal, account: AccountRecord, wanted: TokenWanted): Promise<MintRequest> {
  const planned: MintRequest = {
    kind: 'access_token',
    accountId: account.id,
    userId: issuer.userId,
    name: requireName(wanted.name, '/name'),
    scopes: [...new Set(wanted.scopes ?? defaultTokenScopes)],
    ...(await resolveReach(services, issuer, wanted.resource ?? formatReach(issuer.reach), account.id)),
    rateLimitPerMinute: wanted.rateLimitPerMinute ?? defaultRateLimit,
    expiresAt: new Date(Date.now() + (wanted.expiresInDays ?? defaultTokenDays) * dayMs),
  };
  checkMint(issuer, planned);
  return planned;
}

export interface KeyWanted {
  name: string | null;
  scopes: Scope[];
  /** Default: the issuer's reach. */
  workspaceId?: string | null;
  rateLimitPerMinute?: number | null;
}

/** The same for a key, which never expires. */
export async function planKey(services: Services, issuer: Principal, account: AccountRecord, wanted: KeyWanted): Promise<MintRequest> {
  const resource = wanted.workspaceId ? `workspace:${wanted.workspaceId}` : formatReach(issuer.reach);
  const planned: MintRequest = {
    kind: 'account_key',
    accountId: account.id,
    userId: account.ownerId,
    name: wanted.name === null ? null : requireName(wanted.name, '/name'),
    scopes: [...new Set(wanted.scopes)],
    ...(await resolveReach(services, issuer, resource, account.id)),
    rateLimitPerMinute: wanted.rateLimitPerMinute ?? defaultRateLimit,
    expiresAt: null,
  };
  checkMint(issuer, planned);
  return planned;
}

/** The reach of a new credential: it must exist in the account and be visible to the issuer. */
async function resolveReach(
  services: Services,
  issuer: Principal,
  resource: string,
  accountId: string,
): Promise<{ reach: Reach; reachWorkspaceId: string | null }> {
  const reach = parseReach(resource);
  if (!reach)
    throw new DomainError('validation-failed', 'resource is not account, workspace:<id> or workbook:<id>.', 'Name one of the three.', {
      errors: [{ pointer: '/resource', detail: 'must be account, workspace:<id> or workbook:<id>' }],
    });
  if (reach.kind === 'account') {
    requireAccountReach(issuer);
    return { reach, reachWorkspaceId: null };
  }
  if (reach.kind === 'workspace') {
    const workspace = await requireNamedWorkspace(services, issuer, reach.id);
    requireSameAccount(workspace.accountId, accountId, 'workspace');
    return { reach: { kind: 'workspace', id: workspace.id }, reachWorkspaceId: workspace.id };
  }
  const workbook = await requireNamedWorkbook(services, issuer, reach.id);
  requireSameAccount(workbook.accountId, accountId, 'workbook');
  return { reach, reachWorkspaceId: workbook.workspaceId };
}

function requireSameAccount(actual: string, wanted: string, what: string): void {
  if (actual === wanted) return;
  throw new DomainError(
    'outside-reach',
    `The ${what} belongs to another account than the credential would.`,
    `Name the ${what}'s account as account_id.`,
  );
}
