import type { Principal } from '../../core/access/principal.ts';
import { DomainError, describeFirst } from '../../core/errors.ts';
import { escapePointer } from '../../core/jsonPointer.ts';
import type { Casting, CastRow } from '../../core/table/casting.ts';
import { type CellFault, castRows } from '../../core/table/castRows.ts';
import { touchedCells } from '../../core/table/changes.ts';
import type { PlannedEdit, PreparedEdit } from '../../core/table/edit.ts';
import { planUpsert, type RowPlan } from '../../core/table/planRows.ts';
import { rowIdColumn, type TableAt } from '../../core/table/table.ts';
import type { Services } from '../../store/services.ts';
import { readStoredRows } from '../../store/tables/readStoredRows.ts';
import { overrideCells, requireCellsEditable } from '../overrides/overrideCells.ts';
import { requireTable } from '../tables/openTable.ts';
import { openVisibleTable } from '../tables/openVisibleTable.ts';
import { checkVersion } from './checkVersion.ts';
import { matchByKey } from './matchByKey.ts';
import { refuseMasked } from './refuseMasked.ts';
import { writeLargeEdit } from './writeLargeEdit.ts';

const mostErrors = 100;

export interface EditRequest {
  workbookId: string;
  name: string;
  expectedVersion: number | null;
  rebase: boolean;
  /** Columns by whose values rows are matched, instead of by row id. */
  key?: string[];
}

/** How a refusal speaks of the rows of a request. */
export interface RowWords {
  /** Where a row stands in the request. */
  pointerOf(place: number): string;
  refuseMissing(places: number[]): DomainError;
}

const manyRows: RowWords = {
  pointerOf: (place) => `/rows/${place}`,
  refuseMissing: (places) =>
    refuseMissing(
      places.map((place) => `/rows/${place}/${rowIdColumn}`),
      'Leave __svc_row_id out to insert; read the rows again to get their ids.',
    ),
};

/** Everything before the transaction: reads, casts, plans and, for a large edit, writes its file. */
export async function prepareUpsert(
  services: Services,
  principal: Principal,
  request: EditRequest,
  rows: readonly object[],
  words: RowWords = manyRows,
): Promise<PreparedEdit> {
  const at = await requireTable(services, request.workbookId, request.name);
  await requireCellsEditable(services, at);
  const visible = await openVisibleTable(services, principal, at);
  const cast = requireCast(castRows(visible.columns, rows), words);
  const edited = request.key ? await matchByKey(services, visible, request.key, cast) : cast;
  await checkVersion(services, at, request.expectedVersion, visible.columns, request.rebase ? { touched: touchedCells(edited) } : null);
  return writeLargeEdit(services, await overrideCells(services, await planOnStored(services, at, edited, { words })));
}

function requireCast(casting: Casting<CellFault>, { pointerOf }: RowWords): CastRow[] {
  if (casting.kind === 'cast') return casting.rows;
  if (casting.kind === 'masked') throw refuseMasked(casting.column, 'Leave it out, or ask for a role that may see it.');
  const errors = casting.faults.map(({ row, name, why }) => ({
    pointer: `${pointerOf(row)}/${escapePointer(name)}`,
    detail: why,
  }));
  throw new DomainError('validation-failed', describeFirst(errors), 'Correct the cells that `errors` lists; nothing was changed.', {
    errors,
  });
}

/** Plans an upsert on the stored rows. */
export async function planOnStored(
  services: Services,
  at: TableAt,
  rows: CastRow[],
  { detail, words = manyRows }: { detail?: PlannedEdit['detail']; words?: RowWords } = {},
): Promise<PreparedEdit> {
  const stored = await readStoredRows(
    services,
    at,
    rows.flatMap((row) => row.rowId ?? []),
  );
  return requireRows(planUpsert(at, rows, stored, detail), words);
}

/** The edit, or a refusal that names the rows that do not exist. */
export function requireRows(plan: RowPlan, words: Pick<RowWords, 'refuseMissing'>): PreparedEdit {
  if (plan.kind === 'planned') return plan.edit;
  throw words.refuseMissing(plan.places);
}

export function refuseMissing(pointers: string[], suggestedFix: string): DomainError {
  const errors = pointers.slice(0, mostErrors).map((pointer) => ({ pointer, detail: 'names no row of this table' }));
  return new DomainError('validation-failed', 'Some rows do not exist.', suggestedFix, { errors });
}
