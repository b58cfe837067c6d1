import type { Principal } from '../core/access/principal.ts';
import { formatReach, reachesWorkbook, reachesWorkspace } from '../core/access/reach.ts';
import { atLeast, type BaseRole } from '../core/access/roles.ts';
import { missingScopes, type Scope } from '../core/access/scopes.ts';
import { DomainError, notFound } from '../core/errors.ts';
import { isId } from '../core/ids/ids.ts';
import { type AccountRecord, findAccount, listOwnedAccounts } from '../store/pg/accounts.ts';
import { findVisibleWorkbook, type VisibleWorkbook } from '../store/pg/workbooks.ts';
import { listVisibleWorkspaces, type VisibleWorkspace } from '../store/pg/workspaces.ts';
import type { Services } from '../store/services.ts';

/**
 * Decides whether a principal may use a resource. Always the same three checks in this order: is it visible (404), within reach
 * (403), the role sufficient (403).
 */

/** Tokens and keys see their one account; a session sees all that its user owns or is a member of. */
export function askerOf({ kind, userId, accountId }: Principal): { userId: string; accountId: string | null } {
  return { userId, accountId: kind === 'session' ? null : accountId };
}

export function outsideReach(principal: Principal, what: string): DomainError {
  return new DomainError(
    'outside-reach',
    `${what} lies outside the credential's reach, ${formatReach(principal.reach)}.`,
    'Use a credential whose resource covers it.',
  );
}

/** A session has every scope. */
export function requireScopes(principal: Principal, needed: readonly Scope[]): void {
  const missing = missingScopes(principal.scopes, needed);
  if (missing.length === 0) return;
  throw new DomainError(
    'missing-scope',
    `The credential lacks the scope ${missing.join(', ')}.`,
    'Use a credential that has it, or mint one with these scopes.',
    { members: { missing_scope: missing.join(' ') } },
  );
}

function requireRole(role: BaseRole, needed: BaseRole): void {
  if (atLeast(role, needed)) return;
  throw new DomainError(
    'insufficient-role',
    `This needs the role ${needed}; yours is ${role}.`,
    `Ask an admin of the workspace for the role ${needed}.`,
  );
}

export async function requireWorkbook(
  services: Services,
  principal: Principal,
  workbookId: string,
  needed: BaseRole,
  /** Asked for before, by the same asker. */
  found: Promise<VisibleWorkbook | null> | null = null,
): Promise<VisibleWorkbook> {
  const workbook = isId(workbookId, 'wb')
    ? await (found ?? findVisibleWorkbook(services.db, { id: workbookId, ...askerOf(principal) }))
    : null;
  if (!workbook) throw notFound('workbook');
  if (!reachesWorkbook(principal.reach, workbook)) throw outsideReach(principal, 'The workbook');
  requireRole(workbook.role, needed);
  return workbook;
}

export async function requireWorkspace(
  services: Services,
  principal: Principal,
  workspaceId: string,
  needed: BaseRole,
): Promise<VisibleWorkspace> {
  const workspace = await findVisibleWorkspace(services, principal, workspaceId);
  if (!workspace) throw notFound('workspace');
  if (!reachesWorkspace(principal.reach, workspace.id)) throw outsideReach(principal, 'The workspace');
  requireRole(workspace.role, needed);
  return workspace;
}

/** A `workspace_id` given as a parameter: 403 if it cannot be reached, also if it does not exist. */
export async function requireNamedWorkspace(services: Services, principal: Principal, workspaceId: string): Promise<VisibleWorkspace> {
  const workspace = await findVisibleWorkspace(services, principal, workspaceId);
  if (!workspace || !reachesWorkspace(principal.reach, workspace.id)) throw outsideReach(principal, `The workspace ${workspaceId}`);
  return workspace;
}

/** A workbook given as a parameter: 403 if it cannot be reached, also if it does not exist. */
export async function requireNamedWorkbook(services: Services, principal: Principal, workbookId: string): Promise<VisibleWorkbook> {
  try {
    return await requireWorkbook(services, principal, workbookId, 'viewer');
  } catch (error) {
    if (error instanceof DomainError && error.code === 'not-found') throw outsideReach(principal, `The workbook ${workbookId}`);
    throw error;
  }
}

async function findVisibleWorkspace(services: Services, principal: Principal, workspaceId: string): Promise<VisibleWorkspace | null> {
  const filter = { userId: principal.userId, accountIds: principal.accountIds };
  if (workspaceId === 'personal') {
    const all = await listVisibleWorkspaces(services.db.orm, { ...filter, accountIds: [principal.accountId] });
    return all.find((workspace) => workspace.kind === 'personal') ?? null;
  }
  if (!isId(workspaceId, 'ws')) return null;
  const [workspace] = await listVisibleWorkspaces(services.db.orm, { ...filter, id: workspaceId, limit: 1 });
  return workspace ?? null;
}

/** The account that a request names, or the credential's own. */
export async function requireAccount(
  services: Services,
  principal: Principal,
  accountId: string | null | undefined,
): Promise<AccountRecord> {
  const account = await findAccount(services.db.orm, accountId ?? principal.accountId);
  const mine = account && account.ownerId === principal.userId && (principal.kind === 'session' || account.id === principal.accountId);
  if (!mine) throw notFound('account');
  return account;
}

export async function listReachableAccounts(services: Services, principal: Principal): Promise<AccountRecord[]> {
  const owned = await listOwnedAccounts(services.db.orm, principal.userId);
  return principal.kind === 'session' ? owned : owned.filter((account) => account.id === principal.accountId);
}

/** Resources of the whole account are refused to a credential limited to a workspace or workbook. */
export function requireAccountReach(principal: Principal): void {
  if (principal.reach.kind !== 'account') throw outsideReach(principal, 'The account as a whole');
}

/** For what only the owner in person may do, not a token or key. */
export function requireOwnerSession(principal: Principal, what: string): void {
  if (principal.kind === 'session') return;
  throw new DomainError(
    'not-owner',
    `Only the owner's session may ${what}.`,
    'Log in with POST /api/auth/login and use the session token.',
  );
}
