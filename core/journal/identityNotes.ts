import { audited, type Notes } from './notes.ts';

/** A new user with their first account and workspace. */
export function userCreated(userId: string, home: { accountId: string; workspaceId: string }, how: string): Notes {
  return {
    audit: [
      { action: 'user.created', target: userId, detail: { how } },
      { action: 'account.created', target: home.accountId, detail: { kind: 'default' } },
      { action: 'workspace.created', target: home.workspaceId, detail: { kind: 'personal' } },
    ],
  };
}

export function accountCreated(accountId: string): Notes {
  return audited('account.created', accountId, { kind: 'developer' });
}

/** Its deletion has begun: from now on nobody can use it. Noted under another account, which stays. */
export function accountClosed(account: { id: string; name: string }): Notes {
  return audited('account.closed', account.id, { name: account.name });
}

/** Nothing is left of it. */
export function accountDeleted(accountId: string, creditsForfeited: number): Notes {
  return audited('account.deleted', accountId, { credits_forfeited: creditsForfeited });
}

export interface NotedCredential {
  id: string;
  kind: 'access_token' | 'account_key';
}

export function credentialMinted(credential: NotedCredential & { scopes: string[]; resource: string }): Notes {
  const action = credential.kind === 'access_token' ? 'token.minted' : 'key.minted';
  return audited(action, credential.id, { scopes: credential.scopes, resource: credential.resource });
}

/** `because`: the revoked credential by which this one was minted. */
export function credentialRevoked({ id, kind }: NotedCredential, because: string | null): Notes {
  return audited(kind === 'access_token' ? 'token.revoked' : 'key.revoked', id, because === null ? undefined : { because });
}

export function driveAuthorized(userId: string, provider: string): Notes {
  return { audit: [{ action: 'drive.authorized', target: userId, detail: { provider } }] };
}
