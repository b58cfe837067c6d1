export const scopes = [
  'workbooks:read',
  'workbooks:write',
  'workbooks:delete',
  'cloud-files:read',
  'governance:configure',
  'workspaces:read',
  'workspaces:create',
  'workspaces:configure',
  'workspaces:delete',
  'keys:read',
  'keys:mint',
  'keys:revoke',
  'account:read',
  'billing:manage',
] as const;
export type Scope = (typeof scopes)[number];

export const defaultTokenScopes: Scope[] = ['workbooks:read'];

/** Within one resource `write` implies `read`; nothing else implies anything. */
export function expandScopes(granted: readonly Scope[]): Set<Scope> {
  const all = new Set(granted);
  if (all.has('workbooks:write')) all.add('workbooks:read');
  return all;
}

export function missingScopes(granted: readonly Scope[], needed: readonly Scope[]): Scope[] {
  const held = expandScopes(granted);
  return needed.filter((scope) => !held.has(scope));
}
