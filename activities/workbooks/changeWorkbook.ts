import { DomainError, notFound } from '../../core/errors.ts';
import { workbookConfigured, workbookDeleted } from '../../core/journal/workbookNotes.ts';
import { requireName } from '../../core/names.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { updateWorkbook, type VisibleWorkbook } from '../../store/pg/workbooks.ts';
import { keepMembership } from '../../store/pg/workspaces.ts';
import { type DescribedWorkbook, describeWorkbook } from './describeWorkbooks.ts';

function requireOwner(workbook: VisibleWorkbook, userId: string, what: string): void {
  if (workbook.ownerId !== userId)
    throw new DomainError('not-owner', `Only the workbook's owner may ${what}.`, 'Ask the owner of the workbook.');
}

export async function configureWorkbook(
  tx: Tx,
  workbook: VisibleWorkbook,
  fields: { title?: string; visibility?: 'workspace' | 'private' },
  userId: string,
): Promise<DescribedWorkbook> {
  if (fields.title !== undefined) requireName(fields.title, '/title');
  if (fields.visibility !== undefined) requireOwner(workbook, userId, 'change who sees it');
  const differing = Object.entries(fields).filter(([name, value]) => workbook[name as keyof typeof fields] !== value);
  // Without a change nothing is written to the journal.
  if (differing.length === 0) return describeWorkbook(tx.orm, workbook);
  // Who leaves meanwhile would hide it from everybody.
  if (fields.visibility === 'private' && !(await keepMembership(tx, workbook.workspaceId, userId))) throw notFound('workbook');
  const changed = await updateWorkbook(tx, workbook.id, Object.fromEntries(differing));
  if (!changed) throw notFound('workbook');
  tx.note(
    workbook.id,
    workbookConfigured(
      workbook.id,
      differing.map(([name]) => name),
    ),
  );
  return describeWorkbook(tx.orm, changed);
}

/** The deletion is also noted in the account's journal, which outlives the workbook's. */
export async function deleteWorkbook(tx: Tx, workbook: VisibleWorkbook, userId: string): Promise<void> {
  requireOwner(workbook, userId, 'delete it');
  if (!(await updateWorkbook(tx, workbook.id, { deletedAt: tx.at }))) throw notFound('workbook');
  const { inWorkbook, inAccount } = workbookDeleted(workbook.id);
  tx.note(workbook.id, inWorkbook);
  tx.note(workbook.accountId, inAccount);
}
