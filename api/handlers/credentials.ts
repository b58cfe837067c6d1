import { requireAccount, requireAccountReach, requireNamedWorkbook, requireNamedWorkspace } from '../../activities/access.ts';
import { checkMint, type MintRequest, mintCredential } from '../../activities/identity/mintCredential.ts';
import type { Principal } from '../../core/access/principal.ts';
import { formatReach, parseReach, type Reach } from '../../core/access/reach.ts';
import { defaultTokenScopes } from '../../core/access/scopes.ts';
import { DomainError, notFound } from '../../core/errors.ts';
import { credentialRevoked } from '../../core/journal/identityNotes.ts';
import { cutPage, decodeIdCursor } from '../../core/paging.ts';
import { type CredentialFilter, findCredential, listCredentials, revokeCredential } from '../../store/pg/credentials.ts';
import type { Services } from '../../store/services.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentKey, presentToken } from '../presenters/identity.ts';

const defaultTokenDays = 90;
const defaultRateLimit = 600;
const dayMs = 24 * 3_600_000;

export function makeCredentialHandlers({
  services,
}: ApiParts): Handlers<'listTokens' | 'createToken' | 'revokeToken' | 'listKeys' | 'createKey' | 'revokeKey'> {
  const { orm } = services.db;
  return {
    async listTokens({ principal, query }) {
      const page = await listPage(services, managedTokens(principal), query);
      return { status: 200, body: { tokens: page.items.map(presentToken), next_cursor: page.nextCursor } };
    },

    async createToken(call) {
      const { body, principal } = call;
      const account = await requireAccount(services, principal, body.account_id);
      const { reach, workspaceId } = await resolveReach(services, principal, body.resource ?? formatReach(principal.reach), account.id);
      const wanted: MintRequest = {
        kind: 'access_token',
        accountId: account.id,
        userId: principal.userId,
        name: body.name,
        scopes: [...new Set(body.scopes ?? defaultTokenScopes)],
        reach,
        reachWorkspaceId: workspaceId,
        rateLimitPerMinute: body.rate_limit_per_minute ?? defaultRateLimit,
        expiresAt: new Date(Date.now() + (body.expires_in_days ?? defaultTokenDays) * dayMs),
      };
      checkMint(principal, wanted);
      return call.write(
        (tx) => mintCredential(tx, principal, wanted),
        ({ record, text }) => ({
          status: 201,
          body: { ...presentToken({ ...record, lastUsedAt: null }), token: text },
        }),
      );
    },

    async revokeToken(call) {
      const { principal, params } = call;
      const token = await findCredential(orm, {
        kind: 'access_token',
        userId: principal.userId,
        id: params.token_id,
        ...(principal.kind === 'session' ? {} : { accountId: principal.accountId }),
      });
      if (!token) throw notFound('token');
      requireManages(principal, token);
      return call.write(
        async (tx) => {
          if (await revokeCredential(tx, token.id)) tx.note(token.accountId, credentialRevoked(token));
        },
        () => ({ status: 204 }),
      );
    },

    async listKeys({ principal, query }) {
      const account = await requireAccount(services, principal, query.account_id);
      const pin = principal.reach.kind === 'account' ? {} : { resource: formatReach(principal.reach) };
      const page = await listPage(services, { kind: 'account_key', accountId: account.id, ...pin }, query);
      return { status: 200, body: { keys: page.items.map(presentKey), next_cursor: page.nextCursor } };
    },

    async createKey(call) {
      const { body, principal } = call;
      const account = await requireAccount(services, principal, body.account_id);
      const resource = body.workspace_id ? `workspace:${body.workspace_id}` : formatReach(principal.reach);
      const { reach, workspaceId } = await resolveReach(services, principal, resource, account.id);
      const wanted: MintRequest = {
        kind: 'account_key',
        accountId: account.id,
        userId: account.ownerId,
        name: body.name ?? null,
        scopes: [...new Set(body.scopes)],
        reach,
        reachWorkspaceId: workspaceId,
        rateLimitPerMinute: body.rate_limit_per_minute ?? defaultRateLimit,
        expiresAt: null,
      };
      checkMint(principal, wanted);
      return call.write(
        (tx) => mintCredential(tx, principal, wanted),
        ({ record, text }) => ({
          status: 201,
          body: { ...presentKey({ ...record, lastUsedAt: null }), key: text },
        }),
      );
    },

    async revokeKey(call) {
      const { principal, params, query } = call;
      const account = await requireAccount(services, principal, query.account_id);
      const key = await findCredential(orm, { kind: 'account_key', accountId: account.id, id: params.key_id });
      if (!key) throw notFound('key');
      requireManages(principal, key);
      return call.write(
        async (tx) => {
          if (await revokeCredential(tx, key.id)) tx.note(key.accountId, credentialRevoked(key));
        },
        () => ({ status: 204 }),
      );
    },
  };
}

/** A session sees all of its user's tokens; a token or key those of its account within its own reach. */
function managedTokens(principal: Principal): CredentialFilter {
  if (principal.kind === 'session') return { kind: 'access_token', userId: principal.userId };
  const pin = principal.reach.kind === 'account' ? {} : { resource: formatReach(principal.reach) };
  return { kind: 'access_token', userId: principal.userId, accountId: principal.accountId, ...pin };
}

/** A pinned credential manages those pinned the same way, and itself; the others manage all of the account. */
function requireManages(principal: Principal, other: { id: string; resource: string }): void {
  if (principal.reach.kind === 'account' || other.id === principal.credentialId || other.resource === formatReach(principal.reach)) return;
  throw new DomainError(
    'outside-reach',
    'A pinned credential manages only those that are pinned the same way, and itself.',
    "Use an account-wide credential or the owner's session.",
  );
}

/** What a new credential shall reach: it must exist within the account, and be visible to the issuer. */
async function resolveReach(
  services: Services,
  principal: Principal,
  resource: string,
  accountId: string,
): Promise<{ reach: Reach; workspaceId: string | null }> {
  const reach = parseReach(resource);
  if (!reach)
    throw new DomainError('validation-failed', 'resource is not account, workspace:<id> or workbook:<id>.', 'Name one of the three.', {
      errors: [{ pointer: '/resource', detail: 'must be account, workspace:<id> or workbook:<id>' }],
    });
  if (reach.kind === 'account') {
    requireAccountReach(principal);
    return { reach, workspaceId: null };
  }
  if (reach.kind === 'workspace') {
    const workspace = await requireNamedWorkspace(services, principal, reach.id);
    requireSameAccount(workspace.accountId, accountId, 'workspace');
    return { reach: { kind: 'workspace', id: workspace.id }, workspaceId: workspace.id };
  }
  const workbook = await requireNamedWorkbook(services, principal, reach.id);
  requireSameAccount(workbook.accountId, accountId, 'workbook');
  return { reach, workspaceId: workbook.workspaceId };
}

function requireSameAccount(actual: string, wanted: string, what: string): void {
  if (actual === wanted) return;
  throw new DomainError(
    'outside-reach',
    `The ${what} belongs to another account than the credential would.`,
    `Name the ${what}'s account as account_id.`,
  );
}

async function listPage(services: Services, filter: CredentialFilter, query: { cursor?: string; limit?: number }) {
  const limit = query.limit ?? 50;
  return cutPage(
    await listCredentials(services.db.orm, filter, {
      before: decodeIdCursor(query.cursor, filter.kind === 'access_token' ? 'tok' : 'key'),
      limit,
    }),
    limit,
    (record) => [record.id],
  );
}
