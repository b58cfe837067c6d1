import type { SeenBinding } from '../../activities/bindings/seeBindings.ts';
import type { components } from '../../schema/contract.ts';

export function presentBinding({ binding, table, warnings }: SeenBinding): components['schemas']['SyncBinding'] {
  const { id, actor, externalKind, externalRef, direction, ownershipMap, createdAt } = binding;
  return {
    id,
    table,
    actor,
    external_kind: externalKind,
    external_ref: externalRef,
    direction,
    ownership_map: ownershipMap,
    warnings,
    created_at: createdAt.toISOString(),
  };
}
