import type { Principal } from '../../core/access/principal.ts';
import { sameValue } from '../../core/cells/castValue.ts';
import { cellJson } from '../../core/cells/cellJson.ts';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import type { ColumnRecord, RowSelection, TableAt } from '../../core/table/table.ts';
import type { RelationColumn } from '../../store/duckdb/relation.ts';
import type { Services } from '../../store/services.ts';
import { describeRelation } from '../tables/openTable.ts';
import type { TableDiff } from './diffTable.ts';
import { pairShown, type ShownPair } from './pairShown.ts';
import { inTurns, type StoredColumns, withStoredColumns } from './storedColumns.ts';
import { readWideRows } from './wideRows.ts';

/** A column on one side: how its cells are told, and where they lie unless they are hidden. */
interface Side {
  typeName: string;
  type: ColumnType;
  column: ColumnRecord | null;
}

interface Pair {
  name: string;
  left: Side | null;
  right: Side | null;
}

/** Row ids count from 1: this one stands for "none". */
const noRow = 0;

/** The differences of a table with very many columns, one column after the other. Null: only an engine can read its files. */
export async function diffWide(
  services: Services,
  principal: Principal,
  from: TableAt,
  to: TableAt,
  selection: RowSelection | null,
  limit: number,
): Promise<TableDiff | null> {
  const all = { min: 1, max: Math.max(from.table.nextRowId, to.table.nextRowId) };
  const [leftColumns, rightColumns] = await Promise.all([
    describeRelation(services, from, principal),
    describeRelation(services, to, principal),
  ]);
  const pairs = pairShown(from, to, leftColumns, rightColumns).map(pairDescriber(from, to));
  const found = await withBoth(services, from, to, selection ?? all, async (left, right) => {
    const [before, after] = [new Set(left.ids), new Set(right.ids)];
    const updated = new Set<number>();
    await eachDifference(left, right, pairs, (rowId) => updated.add(rowId));
    return {
      inserted: right.ids.filter((id) => !before.has(id)),
      deleted: left.ids.filter((id) => !after.has(id)),
      updated: [...updated].sort((a, b) => a - b),
    };
  });
  const cells = found && (await tellCells(services, from, to, pairs, found.updated.slice(0, limit)));
  if (!found || !cells) return null;
  const tellRows = async (at: TableAt, columns: RelationColumn[], ids: number[]) =>
    (await readWideRows(services, principal, at, columns, ids.slice(0, limit))).map(({ json }) => json);
  return {
    inserted: await tellRows(to, rightColumns, found.inserted),
    deleted: await tellRows(from, leftColumns, found.deleted),
    updated: cells,
    counts: { inserted: found.inserted.length, updated: found.updated.length, deleted: found.deleted.length },
  };
}

function pairDescriber(from: TableAt, to: TableAt): (pair: ShownPair) => Pair {
  const byName = (at: TableAt) => new Map(at.columns.map((column) => [column.name, column]));
  const describe = (known: Map<string, ColumnRecord>, shown: RelationColumn | null): Side | null =>
    shown && {
      typeName: shown.type,
      type: parseColumnType(shown.type) as ColumnType,
      column: shown.masked ? null : (known.get(shown.name) ?? null),
    };
  const [before, after] = [byName(from), byName(to)];
  return ({ left, right }) => ({
    name: right?.name ?? left?.name ?? '',
    left: describe(before, left),
    right: describe(after, right),
  });
}

/** The cells of some rows that differ, as JSON, in the order of the ids. */
async function tellCells(services: Services, from: TableAt, to: TableAt, pairs: Pair[], ids: number[]): Promise<string[] | null> {
  return withBoth(services, from, to, { ids: [noRow, ...ids] }, async (left, right) => {
    const cells = new Map(ids.map((id): [number, string[]] => [id, []]));
    const show = (side: Side | null, text: string | null) => (side ? cellJson(side.type, text) : 'null');
    await eachDifference(left, right, pairs, (rowId, pair, old, now) => {
      cells.get(rowId)?.push(`{"column":${JSON.stringify(pair.name)},"old":${show(pair.left, old)},"new":${show(pair.right, now)}}`);
    });
    return [...cells].map(([id, each]) => `{"row_id":${id},"cells":[${each.join(',')}]}`);
  });
}

async function withBoth<T>(
  services: Services,
  from: TableAt,
  to: TableAt,
  selection: RowSelection,
  work: (left: StoredColumns, right: StoredColumns) => Promise<T>,
): Promise<T | null> {
  return withStoredColumns(services, from, selection, (left) => withStoredColumns(services, to, selection, (right) => work(left, right)));
}

/** Calls `tell` for every cell that differs in rows that are on both sides. */
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
  await inTurns(pairs, (pair) => {
    const [old, now] = [read(left, pair.left), read(right, pair.right)];
    for (const { id, place, before } of common) {
      const [a, b] = [old[before] ?? null, now[place] ?? null];
      if (!isSame(pair, a, b)) tell(id, pair, a, b);
    }
  });
}

function isSame({ left, right }: Pair, old: string | null, now: string | null): boolean {
  if (old === null || now === null || !left || !right) return old === now;
  // Of two types: by what the caller gets to see.
  if (left.typeName !== right.typeName) return cellJson(left.type, old) === cellJson(right.type, now);
  return sameValue(right.type, old, now);
}
