import { audited, type Notes, oneOp } from './notes.ts';
import type { NotedTable } from './tableNotes.ts';

// Columns by id: the journal is read by people from whom their names are hidden.

export function columnTagged(table: NotedTable, columnId: number, tag: string, reached: number): Notes {
  return { ...audited('column.tag', table.name, { column_id: columnId, tag, reached }), usage: oneOp };
}

export function columnUntagged(table: NotedTable, columnId: number, tag: string): Notes {
  return { ...audited('column.untag', table.name, { column_id: columnId, tag }), usage: oneOp };
}

export function policySet(tag: string, role: string, effect: string): Notes {
  return { ...audited('policy.set', tag, { role, effect }), usage: oneOp };
}

/** Without a role: all rules of the tag. */
export function policyDeleted(tag: string, role: string | null): Notes {
  return { ...audited('policy.delete', tag, role === null ? {} : { role }), usage: oneOp };
}
