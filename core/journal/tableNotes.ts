import type { EventData, EventNote } from './events.ts';
import { audited, type Notes, type OpNote, oneOp } from './notes.ts';
import type { OpKind } from './opKinds.ts';

export interface NotedTable {
  id: string;
  name: string;
}

export type TableState = 'active' | 'archived';

/** An op on a table at a version. `codeRef` names what would replay it: that version, by default. */
export function opOn(kind: OpKind, table: NotedTable, editVersion: number, codeRef = `${table.id}@${editVersion}`): OpNote {
  return { kind, tableId: table.id, tableName: table.name, editVersion, codeRef };
}

export function artifactUpdated(table: NotedTable, editVersion: number, state?: TableState): EventNote {
  return { type: 'artifact.updated', data: { ...describeTable(table, editVersion), ...(state ? { state } : {}) } };
}

function describeTable({ id, name }: NotedTable, editVersion: number) {
  return { artifact_id: id, name, kind: 'table' as const, edit_version: editVersion };
}

export interface NotedEdit {
  kind: OpKind;
  inserted: number;
  updated: number;
  deleted: number;
  detail?: Record<string, unknown>;
  codeRef?: string;
}

/** A new version made by an edit. */
export function tableEdited(table: NotedTable, editVersion: number, edit: NotedEdit): Notes {
  const { kind, inserted, updated, deleted, detail, codeRef } = edit;
  return {
    ops: [opOn(kind, table, editVersion, codeRef)],
    ...audited(kind, table.name, { edit_version: editVersion, inserted, updated, deleted, ...detail }),
    events: [artifactUpdated(table, editVersion)],
    usage: oneOp,
  };
}

/** An empty table at version 1. */
export function tableCreated(table: NotedTable, columns: number): Notes {
  return {
    ops: [opOn('table.create', table, 1)],
    ...audited('table.create', table.name, { columns }),
    events: [artifactUpdated(table, 1)],
    usage: oneOp,
  };
}

export function tableDeleted(table: NotedTable, editVersion: number): Notes {
  return {
    ops: [opOn('table.delete', table, editVersion)],
    ...audited('table.delete', table.name, { edit_version: editVersion }),
    events: [{ type: 'artifact.deleted', data: describeTable(table, editVersion) }],
    usage: oneOp,
  };
}

/** Archived, or made active again. */
export function tableStateSet(table: NotedTable, editVersion: number, state: TableState): Notes {
  const kind = state === 'archived' ? 'table.archive' : 'table.unarchive';
  return {
    ops: [opOn(kind, table, editVersion)],
    ...audited(kind, table.name),
    events: [artifactUpdated(table, editVersion, state)],
    usage: oneOp,
  };
}

export function tableDescribed(table: NotedTable): Notes {
  return { ...audited('table.describe', table.name), usage: oneOp };
}

/** The column by its id, as in everything that the journal says: it is read by people from whom the name may be hidden. */
export function columnDescribed(table: NotedTable, columnId: number): Notes {
  return { ...audited('column.describe', table.name, { column_id: columnId }), usage: oneOp };
}

export function tableAnnotated(table: NotedTable, count: number): Notes {
  return { ...audited('table.annotate', table.name, { count }), usage: oneOp };
}

export function tableUnannotated(table: NotedTable, count: number): Notes {
  return { ...audited('table.unannotate', table.name, { count }), usage: oneOp };
}

/** Tables that went out in a file whose changes can be merged later. */
export function tablesBranched(branchId: string, tables: (NotedTable & { editVersion: number })[]): Notes {
  return {
    ...audited('version.branch', branchId, { tables: tables.map(({ name, editVersion }) => ({ name, edit_version: editVersion })) }),
    events: tables.map(({ id, name, editVersion }) => ({
      type: 'version.branched',
      data: { branch_id: branchId, artifact_id: id, name, edit_version: editVersion },
    })),
    usage: oneOp,
  };
}

/** A file was merged into a table. The edit itself, if there was one, is noted on its own, as are conflicts. */
export function tableMerged(table: NotedTable, editVersion: number, branchId: string, conflicts: number): Notes {
  const { id: artifact_id, name } = table;
  return { events: [{ type: 'version.merged', data: { artifact_id, name, branch_id: branchId, edit_version: editVersion, conflicts } }] };
}

export function conflictsCreated(
  { id: artifact_id, name }: NotedTable,
  conflictIds: string[],
  kind: EventData['conflict.created']['kind'],
): Notes {
  return { events: conflictIds.map((conflict_id) => ({ type: 'conflict.created', data: { artifact_id, name, conflict_id, kind } })) };
}

/** A conflict was closed. */
export function conflictResolved(conflictId: string, status: string): Notes {
  return { ...audited('conflict.resolve', conflictId, { status }), usage: oneOp };
}
