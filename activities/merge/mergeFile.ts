import type { Principal } from '../../core/access/principal.ts';
import { DomainError, notFound } from '../../core/errors.ts';
import { isId } from '../../core/ids/ids.ts';
import { type BranchRecord, listBranchTables } from '../../store/pg/branches.ts';
import type { VisibleWorkbook } from '../../store/pg/workbooks.ts';
import type { Services } from '../../store/services.ts';
import { requireTable } from '../tables/openTable.ts';
import { type MergeInput, readInput } from './prepareMerge.ts';
import { readReturnedFile, type SentFile } from './readReturnedFile.ts';

/** The tables of a branch that a file is to be merged into. */
export interface MergeWanted {
  workbook: VisibleWorkbook;
  /** Only this table of the branch. */
  table: string | null;
  branchId: string | null;
  file: SentFile;
}

/** Finds the branch of a returned file, and reads the sheets of its tables. */
export async function readMerge(
  services: Services,
  principal: Principal,
  { workbook, table, branchId: named, file: sent }: MergeWanted,
): Promise<{ branchId: string; inputs: MergeInput[] }> {
  const only = table === null ? null : await requireTable(services, workbook.id, table);
  if (only && only.table.layer !== 'base')
    throw new DomainError(
      'derived-cannot-branch',
      `${only.table.name} is derived, and takes no merge.`,
      'Merge into the tables that it is derived from.',
    );
  if (named !== null) await requireBranch(services, workbook, named);
  return readReturnedFile(services, principal.userId, sent, async (file) => {
    if (named !== null && file.branchId !== null && file.branchId !== named)
      throw new DomainError(
        'validation-failed',
        `The file is of the branch ${file.branchId}, not of ${named}.`,
        'Send the file that was exported for this branch, or name its own.',
        {
          errors: [{ pointer: '/branch_id', detail: 'is not the branch of the file' }],
        },
      );
    const branchId = named ?? file.branchId;
    if (branchId === null) throw notFound('branch in the file', 'Name it with `branch_id`; the export answered it in X-SVC-Branch-Id.');
    const branched = await requireBranch(services, workbook, branchId);
    const wanted = only ? branched.filter(({ tableId }) => tableId === only.table.id) : branched;
    if (wanted.length === 0) throw notFound('table in this branch', 'GET …/branches lists the tables of each branch.');
    const inputs: MergeInput[] = [];
    const tableIds = branched.map(({ tableId }) => tableId);
    for (const branch of wanted) inputs.push(await readInput(services, principal, file, branch, tableIds));
    return { branchId, inputs };
  });
}

/** The tables of a branch of this workbook; one of another workbook does not exist here. */
async function requireBranch(services: Services, workbook: VisibleWorkbook, branchId: string): Promise<BranchRecord[]> {
  const tables = isId(branchId, 'brn') ? await listBranchTables(services.db.orm, branchId) : [];
  const [first] = tables;
  if (!first || first.workbookId !== workbook.id) throw notFound('branch in this workbook', 'GET …/branches lists the branches.');
  return tables;
}
