import { audited, type Notes, oneOp } from './notes.ts';
import type { NotedTable } from './tableNotes.ts';

/** A table was mapped to a sheet elsewhere, or the mapping got other settings. */
export function bindingPut(table: NotedTable, binding: { id: string; externalKind: string; direction: string }): Notes {
  const { id, externalKind, direction } = binding;
  return { ...audited('binding.put', table.name, { binding_id: id, external_kind: externalKind, direction }), usage: oneOp };
}

export function bindingDeleted(table: NotedTable, bindingId: string): Notes {
  return { ...audited('binding.delete', table.name, { binding_id: bindingId }), usage: oneOp };
}
