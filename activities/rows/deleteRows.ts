import type { Principal } from '../../core/access/principal.ts';
import type { PreparedEdit } from '../../core/table/edit.ts';
import { planDelete } from '../../core/table/planRows.ts';
import type { Services } from '../../store/services.ts';
import { readStoredRows } from '../../store/tables/readStoredRows.ts';
import { requireEditable } from '../tables/editTable.ts';
import { requireTable } from '../tables/openTable.ts';
import { openVisibleColumns } from '../tables/openVisibleTable.ts';
import { checkVersion } from './checkVersion.ts';
import { type EditRequest, type RowWords, refuseMissing, requireRows } from './upsertRows.ts';
import { writeLargeEdit } from './writeLargeEdit.ts';

const manyRows: Pick<RowWords, 'refuseMissing'> = {
  refuseMissing: (places) =>
    refuseMissing(
      places.map((place) => `/row_ids/${place}`),
      'Read the rows again to get their ids; nothing was changed.',
    ),
};

/** Everything before the transaction: reads, plans and, for a large edit, writes its file. */
export async function prepareDelete(
  services: Services,
  principal: Principal,
  request: EditRequest,
  rowIds: number[],
  words: Pick<RowWords, 'refuseMissing'> = manyRows,
): Promise<PreparedEdit> {
  const at = await requireTable(services, request.workbookId, request.name);
  requireEditable(at);
  const { columns: visible } = await openVisibleColumns(services, principal, at);
  const touched = new Map(rowIds.map((id) => [id, 'row' as const]));
  await checkVersion(services, at, request.expectedVersion, visible, request.rebase ? { touched } : null);
  const stored = await readStoredRows(services, at, [...touched.keys()]);
  return writeLargeEdit(services, requireRows(planDelete(at, rowIds, stored), words));
}
