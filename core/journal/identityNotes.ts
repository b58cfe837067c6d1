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
