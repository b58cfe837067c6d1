import { DomainError } from '../../core/errors.ts';
import { tableEdited } from '../../core/journal/tableNotes.ts';
import { describeChange, type PlannedEdit, type PreparedEdit } from '../../core/table/edit.ts';
import type { TableAt } from '../../core/table/table.ts';
import { applyStatementChange, type Change, type StatementChange, type Tx } from '../../store/pg/commit.ts';
import { insertLogFiles } from '../../store/pg/logFiles.ts';
import { appendLayer, type EditedTable, editTable, VersionMoved } from '../../store/pg/tableEdits.ts';
import { beginEventId, makeId } from '../../store/services.ts';
import { applyOverrides } from '../overrides/applyOverrides.ts';

const triesOnCurrent = 5;

/**
 * Runs an edit again, from its first read, when the table changed meanwhile. That read also checks the caller's
 * `expected_version`.
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

export function requireActive(at: TableAt): void {
  if (at.table.state === 'archived')
    throw new DomainError('in-use', 'The table is archived.', 'Unarchive it first with POST …/artifacts/{name}/unarchive.');
}

/** Refuses edits of rows and columns of a table that does not take them. */
export function requireEditable(at: TableAt): void {
  requireActive(at);
  if (at.table.layer === 'view')
    throw new DomainError('in-use', 'The table is a view: it shows what its transform makes of other tables.', 'Edit the tables it reads.');
  if (at.table.layer === 'derived')
    throw new DomainError(
      'in-use',
      'The table is derived: its rows and columns come from its transform, and only cells can be edited.',
      'Edit the tables it is derived from, or change the transform.',
    );
}

/** An edit as a transaction of its own: the compare-and-set, the log entries and the journal. */
export function commitPlan({ at, plan }: Pick<PreparedEdit, 'at' | 'plan'>): Change<EditedTable> {
  return plan.appended || plan.overrides ? (tx) => applyEdit(tx, at, plan) : wholeEdit(at, plan);
}

/** The same inside a larger transaction. */
export async function applyEdit(tx: Tx, at: TableAt, plan: PlannedEdit): Promise<EditedTable> {
  const edited = await applyStatementChange(tx, wholeEdit(at, plan));
  if (plan.appended) {
    await appendLayer(tx, at.table.id, edited.editVersion, makeId('mft'), plan.appended.layer);
    await insertLogFiles(tx, at.table.id, edited.editVersion, [plan.appended.file]);
  }
  if (plan.overrides) await applyOverrides(tx, at.table, edited.editVersion, plan.overrides);
  return edited;
}

function wholeEdit(at: TableAt, plan: PlannedEdit): StatementChange<EditedTable> {
  const edit = {
    tableId: at.table.id,
    readVersion: at.editVersion,
    versionUid: makeId('ver'),
    inserted: plan.inserted,
    deleted: plan.deleted,
    entries: plan.entries,
    manifest: plan.layers && { id: makeId('mft'), layers: plan.layers },
    schemaChanged: plan.schemaChanged,
    change: describeChange(plan),
    eventPrefix: beginEventId(),
  };
  return editTable(edit, at.table.workbookId, tableEdited(at.table, at.editVersion + 1, plan));
}
