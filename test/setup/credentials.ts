import type { components } from '../../schema/contract.ts';
import { type ApiClient, ok } from './api.ts';

type Schemas = components['schemas'];
export type Scope = Schemas['Scope'];

/** A minted token or key and its plaintext. */
export interface Minted {
  id: string;
  text: string;
}

export async function mintToken(issuer: ApiClient, wanted: Partial<Schemas['CreateTokenRequest']> = {}): Promise<Minted> {
  const made = ok(await issuer.POST('/api/v1/me/tokens', { body: { name: 'a token', ...wanted } }));
  return { id: made.id, text: made.token };
}

export async function mintKey(issuer: ApiClient, wanted: Partial<Schemas['CreateKeyRequest']> = {}): Promise<Minted> {
  const made = ok(
    await issuer.POST('/api/control/account/keys', { body: { scopes: ['workbooks:read'], rate_limit_per_minute: 600, ...wanted } }),
  );
  return { id: made.id, text: made.key };
}

export async function makeWorkspace(owner: ApiClient, name: string, accountId?: string): Promise<string> {
  return ok(await owner.POST('/api/control/workspaces', { body: { name, account_id: accountId ?? null } })).id;
}

export async function makeWorkbook(client: ApiClient, title: string, workspaceId?: string): Promise<string> {
  return ok(await client.POST('/api/v1/workbooks', { body: { title, workspace_id: workspaceId ?? null } })).id;
}

export async function makeAccount(owner: ApiClient, name: string): Promise<string> {
  return ok(await owner.POST('/api/control/accounts', { body: { name } })).id;
}
