import { listKeyCandidates, listShared, type SharedColumn } from '../../core/merge/chooseKey.ts';
import type { RevisedColumn } from '../../core/merge/reviseColumns.ts';
import { RowMatcher } from '../../core/merge/rowMatcher.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { Services } from '../../store/services.ts';
import { isKey, readCellHashes, readRowHashes } from '../../store/tables/rowHashes.ts';

/** Enough to tell rows of a wide table apart. */
const mostColumns = 200;
/** Rows that are compared by cell, and their columns. */
const mostLeft = 20_000;
const mostCells = 30;

export interface MatchedRows {
  matcher: RowMatcher;
  /** By position. */
  idsBefore: Float64Array;
  idsAfter: Float64Array;
  /** Every column and every cell is as it was. Rows may have moved in the file: in the table they stay in the order of their ids. */
  isSame: boolean;
}

/** Finds the rows of a table again in its new content. Null: nothing can be compared. */
export async function matchRows(services: Services, base: TableAt, next: TableAt, columns: RevisedColumn[]): Promise<MatchedRows | null> {
  const shared = listShared(columns).slice(0, mostColumns);
  if (shared.length === 0 || base.rowCount === 0 || next.rowCount === 0) return null;
  const key = await findKey(services, base, next, columns);
  const compared = shared.filter((column) => !key.includes(column)).slice(0, mostCells);
  const [before, after] = [new Side(services, base, 'base', shared), new Side(services, next, 'next', shared)];
  const [rowsBefore, rowsAfter] = [await before.readHashes(key), await after.readHashes(key)];
  const matcher = new RowMatcher(rowsBefore, rowsAfter);
  const left = matcher.countLeft();
  if (left > 0) {
    const isFew = left <= mostLeft && compared.length > 0;
    const { before: gone, after: fresh } = isFew ? matcher.listLeft() : { before: [], after: [] };
    matcher.compareGaps(await before.openCells(compared, rowsBefore.ids, gone), await after.openCells(compared, rowsAfter.ids, fresh));
  }
  const isSame = hasSameColumns(base, next, shared) && isEqual(matcher, rowsBefore.contents, rowsAfter.contents);
  return { matcher, idsBefore: rowsBefore.ids, idsAfter: rowsAfter.ids, isSame };
}

/** And all of them were compared. */
function hasSameColumns(base: TableAt, next: TableAt, shared: SharedColumn[]): boolean {
  if (base.columns.length !== shared.length || next.columns.length !== shared.length) return false;
  return base.columns.every(({ name, type }, i) => next.columns[i]?.name === name && next.columns[i]?.type === type);
}

function isEqual({ before: twins }: RowMatcher, before: Float64Array, after: Float64Array): boolean {
  return before.length === after.length && twins.every((twin, position) => twin >= 0 && before[twin] === after[position]);
}

/** The columns that tell rows apart, in the old file and in the new one; none: no columns do. */
export async function findKey(services: Services, base: TableAt, next: TableAt, columns: RevisedColumn[]): Promise<SharedColumn[]> {
  const candidates = listKeyCandidates(columns);
  for (let length = 1; length <= candidates.length; length += 1) {
    const key = candidates.slice(0, length);
    const [ofBase, ofNext] = [key.map((column) => column.base), key.map((column) => column.next)];
    if ((await isKey(services, base, ofBase)) && (await isKey(services, next, ofNext))) return key;
  }
  return [];
}

class Side {
  constructor(
    private readonly services: Services,
    private readonly at: TableAt,
    private readonly side: 'base' | 'next',
    private readonly shared: SharedColumn[],
  ) {}

  readHashes(key: SharedColumn[]) {
    return readRowHashes(this.services, this.at, this.own(this.shared), this.own(key));
  }

  async openCells(columns: SharedColumn[], ids: Float64Array, positions: number[]) {
    const rowIds = positions.map((position) => ids[position] as number);
    const cells = rowIds.length > 0 ? await readCellHashes(this.services, this.at, this.own(columns), rowIds) : new Map<number, number[]>();
    return (position: number) => cells.get(ids[position] as number) ?? null;
  }

  private own(columns: SharedColumn[]) {
    return columns.map((column) => column[this.side]);
  }
}
