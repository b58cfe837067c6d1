import { DomainError } from '../../core/errors.ts';
import type { OpKind } from '../../core/journal/opKinds.ts';
import { tableEdited } from '../../core/journal/tableNotes.ts';
import type { LogEntry } from '../../core/table/log.ts';
import type { Layer, PlannedLayer, TableAt } from '../../core/table/table.ts';
import { applyWhole, type Change, type Tx, type WholeChange } from '../../store/pg/commit.ts';
import { insertLogFiles, type WrittenLogFile } from '../../store/pg/logFiles.ts';
import { appendLayer, type EditedTable, editTable, VersionMoved } from '../../store/pg/tables.ts';
import { makeId } from '../../store/services.ts';

/** What an edit does to a table, worked out before the transaction begins. */
export interface PlannedEdit {
  kind: OpKind;
  inserted: number;
  updated: number;
  deleted: number;
  entries: LogEntry[];
  /** New layers for an edit that changes what the table is made of. */
  layers: PlannedLayer[] | null;
  schemaChanged: boolean;
  /** Written as a file instead of `entries`: one more layer of the table, and what history reads. */
  appended?: { layer: Layer; file: WrittenLogFile };
  detail?: Record<string, unknown>;
}

/** An edit that is ready for its transaction. */
export interface PreparedEdit {
  at: TableAt;
  plan: PlannedEdit;
  /** In the order of the request; negative ones are new rows, counted from -1. */
  rowIds: number[];
}

const triesOnCurrent = 5;

/**
 * Reads, plans and applies an edit; when the table moves on meanwhile it starts again from the reading, which is also
 * where the caller's `expected_version` is checked.
 */
export async function retryOnMove<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof VersionMoved)) throw error;
      if (tries >= triesOnCurrent)
        throw new DomainError('unavailable', 'The table is being changed too often just now.', 'Try again in a moment.', {
          headers: { 'Retry-After': '1' },
        });
    }
  }
}

export function requireEditable(at: TableAt): void {
  if (at.table.state === 'archived')
    throw new DomainError('in-use', 'The table is archived.', 'Unarchive it first with POST …/artifacts/{name}/unarchive.');
  if (at.table.layer !== 'base')
    throw new DomainError('in-use', 'The table is derived and takes no such edit.', 'Edit the tables it is derived from.');
}

/** An edit as a change of its own: the compare-and-set, the entries, and what the journal says of it. */
export function commitPlan({ at, plan }: Pick<PreparedEdit, 'at' | 'plan'>): Change<EditedTable> {
  return plan.appended ? (tx) => applyEdit(tx, at, plan) : wholeEdit(at, plan);
}

/** The same inside a transaction that does more. */
export async function applyEdit(tx: Tx, at: TableAt, plan: PlannedEdit): Promise<EditedTable> {
  const edited = await applyWhole(tx, wholeEdit(at, plan));
  if (plan.appended) {
    await appendLayer(tx, at.table.id, edited.editVersion, makeId('mft'), plan.appended.layer);
    await insertLogFiles(tx, at.table.id, edited.editVersion, [plan.appended.file]);
  }
  return edited;
}

function wholeEdit(at: TableAt, plan: PlannedEdit): WholeChange<EditedTable> {
  const edit = {
    tableId: at.table.id,
    readVersion: at.editVersion,
    versionUid: makeId('ver'),
    inserted: plan.inserted,
    deleted: plan.deleted,
    entries: plan.entries,
    manifest: plan.layers && { id: makeId('mft'), layers: plan.layers },
    schemaChanged: plan.schemaChanged,
  };
  return editTable(edit, at.table.workbookId, tableEdited(at.table, at.editVersion + 1, plan));
}
