/** What a credential reaches. Set by `resource` only; scopes say what it may do there. */
export type Reach = { kind: 'account' } | { kind: 'workspace'; id: string } | { kind: 'workbook'; id: string };

export function parseReach(resource: string): Reach | null {
  if (resource === 'account') return { kind: 'account' };
  const match = /^(workspace|workbook):(.+)$/.exec(resource);
  if (!match) return null;
  return { kind: match[1] as 'workspace' | 'workbook', id: match[2] as string };
}

export function formatReach(reach: Reach): string {
  return reach.kind === 'account' ? 'account' : `${reach.kind}:${reach.id}`;
}

export function reachesWorkspace(reach: Reach, workspaceId: string): boolean {
  return reach.kind === 'account' || (reach.kind === 'workspace' && reach.id === workspaceId);
}

export function reachesWorkbook(reach: Reach, workbook: { id: string; workspaceId: string }): boolean {
  return reach.kind === 'workbook' ? reach.id === workbook.id : reachesWorkspace(reach, workbook.workspaceId);
}

/** Whether `inner` lies within `outer`. A workbook lies within its workspace. */
export function containsReach(outer: Reach, inner: Reach, workspaceOfInner: string | null): boolean {
  if (outer.kind === 'account') return true;
  if (outer.kind === inner.kind) return outer.id === (inner as { id: string }).id;
  return outer.kind === 'workspace' && inner.kind === 'workbook' && workspaceOfInner === outer.id;
}
