/** Base roles in a workspace, weakest first. */
export const baseRoles = ['viewer', 'editor', 'admin'] as const;
export type BaseRole = (typeof baseRoles)[number];

export function atLeast(role: BaseRole, needed: BaseRole): boolean {
  return baseRoles.indexOf(role) >= baseRoles.indexOf(needed);
}

/** Names that no custom role may take. */
export const reservedRoles: readonly string[] = [...baseRoles, 'owner', '*'];

export function effectiveRoles(base: BaseRole, custom: readonly string[]): string[] {
  return [base, ...custom.filter((role) => role !== base)];
}
