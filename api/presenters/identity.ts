import type { DescribedSelf } from '../../activities/accounts/describeSelf.ts';
import type { StartedSession } from '../../activities/identity/signUp.ts';
import type { AccountUsage } from '../../activities/usage/readAccountUsage.ts';
import type { OwnUsage } from '../../activities/usage/readOwnUsage.ts';
import type { OwnWorkspace } from '../../activities/workspaces/pageWorkspaces.ts';
import type { Principal } from '../../core/access/principal.ts';
import { formatReach } from '../../core/access/reach.ts';
import { effectiveRoles } from '../../core/access/roles.ts';
import type { Scope } from '../../core/access/scopes.ts';
import type { components } from '../../schema/contract.ts';
import type { AccountRecord } from '../../store/pg/accounts.ts';
import type { ListedCredential } from '../../store/pg/credentials.ts';
import type { UserRecord } from '../../store/pg/users.ts';
import type { MemberRecord, WorkspaceRecord } from '../../store/pg/workspaces.ts';

type Schemas = components['schemas'];

const time = (date: Date | null) => date?.toISOString() ?? null;

export function presentUser(user: Pick<UserRecord, 'id' | 'email' | 'name' | 'createdAt'>): Schemas['User'] {
  return { id: user.id, email: user.email, name: user.name, created_at: user.createdAt.toISOString() };
}

export function presentToken(record: ListedCredential): Schemas['Token'] {
  return {
    id: record.id,
    name: record.name ?? '',
    account_id: record.accountId,
    scopes: record.scopes as Scope[],
    resource: record.resource,
    rate_limit_per_minute: record.rateLimitPerMinute,
    expires_at: time(record.expiresAt) as string,
    created_at: record.createdAt.toISOString(),
    last_used_at: time(record.lastUsedAt),
    revoked_at: time(record.revokedAt),
    prefix: record.prefix,
  };
}

export function presentKey(record: ListedCredential): Schemas['Key'] {
  return {
    id: record.id,
    name: record.name,
    account_id: record.accountId,
    workspace_id: record.resource.startsWith('workspace:') ? record.resource.slice('workspace:'.length) : null,
    resource: record.resource,
    scopes: record.scopes as Scope[],
    rate_limit_per_minute: record.rateLimitPerMinute,
    created_at: record.createdAt.toISOString(),
    last_used_at: time(record.lastUsedAt),
    revoked_at: time(record.revokedAt),
    prefix: record.prefix,
  };
}

export function presentAccount(account: AccountRecord): Schemas['Account'] {
  return {
    id: account.id,
    name: account.name,
    kind: account.kind,
    owner_id: account.ownerId,
    plan: account.plan,
    plan_status: account.planStatus,
    created_at: account.createdAt.toISOString(),
  };
}

export function presentWorkspace(workspace: WorkspaceRecord & { isDefault: boolean }): Schemas['Workspace'] {
  return {
    id: workspace.id,
    name: workspace.name,
    account_id: workspace.accountId,
    kind: workspace.kind,
    is_default: workspace.isDefault,
    residency: workspace.residency,
    naming: workspace.naming,
    preprocess_rules: workspace.preprocessRules,
    idp_config: workspace.idpConfig,
    created_at: workspace.createdAt.toISOString(),
  };
}

export function presentMyWorkspace({ workspace, isDefault }: OwnWorkspace): Schemas['MyWorkspace'] {
  return {
    id: workspace.id,
    name: workspace.name,
    account_id: workspace.accountId,
    kind: workspace.kind,
    is_default: isDefault,
    role: workspace.role,
  };
}

export function presentMember(member: MemberRecord, ownerId: string): Schemas['Member'] {
  return {
    user: presentUser(member.user),
    role: member.role,
    roles: member.roles,
    effective_roles: effectiveRoles(member.role, member.roles),
    is_owner: member.user.id === ownerId,
  };
}

export function presentMe(principal: Principal, { storage, ...me }: DescribedSelf): Schemas['Me'] {
  return {
    user: presentUser({ id: principal.userId, email: principal.email, name: principal.userName, createdAt: me.userCreatedAt }),
    account_id: principal.accountId,
    account_name: principal.accountName,
    workspace_id: me.workspaceId,
    workspace_name: me.workspaceName,
    scopes: principal.scopes,
    resource: formatReach(principal.reach),
    plan: me.plan,
    plan_status: me.planStatus,
    credits: me.credits,
    storage: {
      tables_bytes: storage.tables,
      sources_bytes: storage.sources,
      results_bytes: storage.results,
      limit_bytes: Number.isFinite(storage.limit) ? storage.limit : null,
    },
    credential: {
      kind: principal.kind,
      id: principal.credentialId,
      expires_at: time(principal.expiresAt),
      rate_limit_per_minute: principal.rateLimitPerMinute,
    },
  };
}

/** Without the token, which is in a cookie. */
export function presentConsoleSession({ user, expiresAt }: StartedSession): Schemas['ConsoleSession'] {
  return { user: presentUser(user), expires_at: expiresAt.toISOString() };
}

export function presentSession(session: StartedSession): Schemas['SessionResponse'] {
  return { user: presentUser(session.user), session_token: session.token, expires_at: session.expiresAt.toISOString() };
}

export function presentUsage({ days, from, to, requests }: OwnUsage): Schemas['MyUsage'] {
  const ids = [...new Set(requests.map((row) => row.credentialId))];
  const byCredential = ids.map((id) => [id, requests.filter((row) => row.credentialId === id)] as const);
  return {
    days,
    from,
    to,
    tokens: byCredential.map(([id, rows]) => ({
      token_id: id,
      name: rows[0]?.name ?? null,
      kind: rows[0]?.kind ?? 'session',
      daily: rows.map(({ date, requests: count }) => ({ date, requests: count })),
      total: rows.reduce((sum, row) => sum + row.requests, 0),
    })),
  };
}

export function presentAccountUsage({ accountId, series, ...span }: AccountUsage): Schemas['UsageSeries'] {
  return {
    account_id: accountId,
    ...span,
    series: series.map(({ storageBytes, ...day }) => ({ ...day, storage_bytes: storageBytes })),
  };
}
