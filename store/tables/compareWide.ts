import { sameValue } from '../../core/cells/castValue.ts';
import { cellJson } from '../../core/cells/cellJson.ts';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { answerTooLarge } from '../../core/errors.ts';
import { pairColumns } from '../../core/table/pairColumns.ts';
import type { RowSelection } from '../../core/table/table.ts';
import { rowIdField, type VisibleColumn, type VisibleTable } from '../../core/table/visibleTable.ts';
import { eachYielding } from '../eachYielding.ts';
import { mostAnswerBytes } from './answerSize.ts';
import { type StoredColumns, withStoredColumns } from './storedColumns.ts';
import { type ChangedCell, noRow, type TableDiff, type UpdatedRow } from './tableDiff.ts';
import type { TableStorage } from './tableStorage.ts';
import { readWideRows } from './wideRows.ts';

/** A column of one version; `column` is null if it is masked. */
interface Side {
  typeName: string;
  type: ColumnType;
  column: VisibleColumn | null;
}

interface Pair {
  name: string;
  left: Side | null;
  right: Side | null;
}

/** Compares a table with very many columns, column by column. Null: only DuckDB can read its files. */
export async function compareWide(
  storage: TableStorage,
  from: VisibleTable,
  to: VisibleTable,
  selection: RowSelection | null,
  limit: number,
): Promise<TableDiff | null> {
  const all = { min: 1, max: Math.max(from.at.table.nextRowId, to.at.table.nextRowId) };
  const pairs = pairColumns(from.columns, to.columns).map(({ left, right }): Pair => {
    return { name: right?.name ?? left?.name ?? '', left: describeSide(left), right: describeSide(right) };
  });
  const found = await withBoth(storage, from, to, selection ?? all, async (left, right) => {
    const [before, after] = [new Set(left.ids), new Set(right.ids)];
    const updated = new Set<number>();
    await eachDifference(left, right, pairs, (rowId) => updated.add(rowId));
    return {
      inserted: right.ids.filter((id) => !before.has(id)),
      deleted: left.ids.filter((id) => !after.has(id)),
      updated: [...updated].sort((a, b) => a - b),
    };
  });
  const updated = found && (await readUpdated(storage, from, to, pairs, found.updated.slice(0, limit)));
  if (!found || !updated) return null;
  const readRows = (visible: VisibleTable, ids: number[]) =>
    readWideRows(storage, { visible, columns: [...visible.columns, rowIdField] }, ids.slice(0, limit));
  return {
    inserted: await readRows(to, found.inserted),
    deleted: await readRows(from, found.deleted),
    updated,
    counts: { inserted: found.inserted.length, updated: found.updated.length, deleted: found.deleted.length },
  };
}

function describeSide(column: VisibleColumn | null): Side | null {
  return column && { typeName: column.type, type: parseColumnType(column.type) as ColumnType, column: column.masked ? null : column };
}

/** The changed cells of some rows, in order of ids. */
async function readUpdated(
  storage: TableStorage,
  from: VisibleTable,
  to: VisibleTable,
  pairs: Pair[],
  ids: number[],
): Promise<UpdatedRow[] | null> {
  return withBoth(storage, from, to, { ids: [noRow, ...ids] }, async (left, right) => {
    const cells = new Map(ids.map((id): [number, ChangedCell[]] => [id, []]));
    const show = (side: Side | null, text: string | null) => (side ? cellJson(side.type, text) : 'null');
    let bytes = 0;
    await eachDifference(left, right, pairs, (rowId, pair, old, now) => {
      bytes += (old?.length ?? 0) + (now?.length ?? 0);
      if (bytes > mostAnswerBytes) throw answerTooLarge(mostAnswerBytes, 'Ask for fewer rows with `limit`.');
      cells.get(rowId)?.push({ column: pair.name, oldJson: show(pair.left, old), newJson: show(pair.right, now) });
    });
    return Array.from(cells, ([rowId, changed]) => ({ rowId, cells: changed }));
  });
}

async function withBoth<T>(
  storage: TableStorage,
  from: VisibleTable,
  to: VisibleTable,
  selection: RowSelection,
  work: (left: StoredColumns, right: StoredColumns) => Promise<T>,
): Promise<T | null> {
  return withStoredColumns(storage, from.at, selection, (left) =>
    withStoredColumns(storage, to.at, selection, (right) => work(left, right)),
  );
}

/** Calls `tell` for every changed cell of rows that both versions have. */
async function eachDifference(
  left: StoredColumns,
  right: StoredColumns,
  pairs: Pair[],
  tell: (rowId: number, pair: Pair, old: string | null, now: string | null) => void,
): Promise<void> {
  const placeOf = new Map(left.ids.map((id, place) => [id, place]));
  const common = right.ids.flatMap((id, place) => (placeOf.has(id) ? [{ id, place, before: placeOf.get(id) as number }] : []));
  if (common.length === 0) return;
  const read = (rows: StoredColumns, side: Side | null) => (side?.column ? rows.texts(side.column) : []);
  await eachYielding(pairs, (pair) => {
    const [old, now] = [read(left, pair.left), read(right, pair.right)];
    for (const { id, place, before } of common) {
      const [a, b] = [old[before] ?? null, now[place] ?? null];
      if (!isSame(pair, a, b)) tell(id, pair, a, b);
    }
  });
}

function isSame({ left, right }: Pair, old: string | null, now: string | null): boolean {
  if (old === null || now === null || !left || !right) return old === now;
  // Values of different types are compared as the caller sees them.
  if (left.typeName !== right.typeName) return cellJson(left.type, old) === cellJson(right.type, now);
  return sameValue(right.type, old, now);
}
