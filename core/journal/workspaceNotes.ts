import { audited, type Notes } from './notes.ts';

export function workspaceCreated(workspaceId: string): Notes {
  return audited('workspace.created', workspaceId, { kind: 'managed' });
}

export function workspaceConfigured(workspaceId: string, fields: string[]): Notes {
  return audited('workspace.configured', workspaceId, { fields });
}

/** `revoked` are the credentials that were limited to the workspace. */
export function workspaceDeleted(workspaceId: string, revoked: string[]): Notes {
  return {
    audit: [
      { action: 'workspace.deleted', target: workspaceId },
      ...revoked.map((id) => ({ action: 'credential.revoked' as const, target: id, detail: { because: workspaceId } })),
    ],
  };
}

export function memberAdded(workspaceId: string, userId: string, role: string): Notes {
  return audited('member.added', userId, { workspace: workspaceId, role });
}

export function memberRoleChanged(workspaceId: string, userId: string, role: string): Notes {
  return audited('member.role_changed', userId, { workspace: workspaceId, role });
}

export function memberRemoved(workspaceId: string, userId: string): Notes {
  return audited('member.removed', userId, { workspace: workspaceId });
}

export function memberRolesSet(workspaceId: string, userId: string, roles: string[]): Notes {
  return audited('member.roles_set', userId, { workspace: workspaceId, roles });
}
