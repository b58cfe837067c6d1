import { DomainError } from '../../core/errors.ts';
import { tablesBranched } from '../../core/journal/tableNotes.ts';
import { decodeCursor, type Page, type PageQuery, pageOf } from '../../core/paging.ts';
import type { VisibleTable } from '../../core/table/visibleTable.ts';
import { insertBranch, type ListedBranch, listBranches } from '../../store/pg/branches.ts';
import type { Tx } from '../../store/pg/commit.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';

/** Only base tables can branch: what is merged into a derived one, its next run would undo. */
export function requireBase(tables: VisibleTable[]): void {
  const derived = tables.find(({ at }) => at.table.layer !== 'base');
  if (!derived) return;
  throw new DomainError(
    'derived-cannot-branch',
    `${derived.at.table.name} is derived from other tables, so a file of it cannot be merged.`,
    'Branch the tables that it is derived from, or export it without record_branch.',
  );
}

interface RecordedBranch {
  id: string;
  format: 'xlsx' | 'csv';
  filename: string;
}

/** Freezes the exported versions as the base of later merges. */
export async function recordBranch(tx: Tx, workbook: VisibleWorkbook, branch: RecordedBranch, tables: VisibleTable[]): Promise<void> {
  await insertBranch(
    tx,
    tables.map(({ at, columns }, position) => ({
      ...branch,
      tableId: at.table.id,
      workbookId: workbook.id,
      accountId: workbook.accountId,
      position,
      baseVersion: at.editVersion,
      baseUid: at.versionUid,
      columns: columns.map(({ id, name, masked }) => ({ id, name, masked })),
      rowCount: at.rowCount,
      actor: tx.actor.name,
      userId: tx.actor.userId,
    })),
  );
  const branched = tables.map(({ at }) => ({ id: at.table.id, name: at.table.name, editVersion: at.editVersion }));
  tx.note(workbook.id, tablesBranched(branch.id, branched));
}

const usualBranches = 200;

/** Newest first, one for each table of a branch. */
export async function pageBranches(services: Services, workbookId: string, query: PageQuery): Promise<Page<ListedBranch>> {
  const key = decodeCursor(query.cursor, ['string', 'number']);
  const after = key && { id: key[0] as string, position: key[1] as number };
  return pageOf(
    query.limit ?? usualBranches,
    (limit) => listBranches(services.db.orm, { workbookId, after, limit }),
    ({ id, position }) => [id, position],
  );
}
