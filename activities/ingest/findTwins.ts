import type { RevisedColumns } from '../../core/merge/reviseColumns.ts';
import type { Cells, ColumnRecord, TableAt } from '../../core/table/table.ts';
import { seeEverything } from '../../core/table/visibleTable.ts';
import type { Services } from '../../store/services.ts';
import { findRowsByKey } from '../../store/tables/findRowsByKey.ts';
import { findKey, matchRows } from './matchRows.ts';

/** A table whose file was revised: as the old file landed, as it is, and as the new file lands. */
export interface Sides {
  base: TableAt;
  current: TableAt;
  next: TableAt;
  revised: RevisedColumns;
  /** Whether rows that were found again have the ids that they had. */
  hasKeptIds: boolean;
}

type Keys = [rowId: number, key: (string | null)[]][];

/** Ids of rows that people touched, with those that the rows have in the new file, if it has them. */
export async function findTwins(
  services: Services,
  { base, next, revised, hasKeptIds }: Sides,
  before: Map<number, Cells>,
  now: Map<number, Cells>,
): Promise<Map<number, number>> {
  const twins = hasKeptIds
    ? new Map([...before.keys()].map((id) => [id, id]))
    : await matchTouched(services, { base, next, revised }, before);
  const key = await findKey(services, base, next, revised.columns);
  if (key.length === 0) return twins;
  const [ofBase, ofNext] = [key.map((column) => column.base), key.map((column) => column.next)];
  // Rows that people added, and now the file, too.
  const ofCurrent = key.map(({ current, next: { type } }) => (current?.type === type ? current : null));
  const added = readKeys(new Map([...now].filter(([rowId]) => !before.has(rowId))), ofCurrent);
  const copies = await findByKey(services, base, ofBase, added);
  const fresh = added.filter(([rowId]) => !copies.has(rowId));
  const taken = new Set(twins.values());
  for (const [rowId, twin] of await findByKey(services, next, ofNext, fresh)) {
    if (!taken.has(twin)) twins.set(rowId, twin);
    taken.add(twin);
  }
  return twins;
}

async function matchTouched(
  services: Services,
  { base, next, revised }: Omit<Sides, 'current' | 'hasKeptIds'>,
  before: Map<number, Cells>,
): Promise<Map<number, number>> {
  const matched = before.size > 0 ? await matchRows(services, base, next, revised.columns) : null;
  const twins = new Map<number, number>();
  matched?.matcher.after.forEach((position, k) => {
    const id = matched.idsBefore[k] as number;
    if (position >= 0 && before.has(id)) twins.set(id, matched.idsAfter[position] as number);
  });
  return twins;
}

function readKeys(rows: Map<number, Cells>, columns: (ColumnRecord | null)[]): Keys {
  return [...rows].map(([rowId, cells]) => [rowId, columns.map((column) => (column ? (cells[column.id] ?? null) : null))]);
}

async function findByKey(services: Services, at: TableAt, columns: ColumnRecord[], keys: Keys): Promise<Map<number, number>> {
  const whole = keys.filter((each): each is [number, string[]] => !each[1].includes(null));
  if (whole.length === 0) return new Map();
  const visible = seeEverything({ ...at, columns });
  const found = await findRowsByKey(
    services,
    visible,
    visible.columns,
    whole.map(([, key]) => key),
  );
  return new Map(
    [...found].flatMap(
      ([
        place,
        {
          rowIds: [twin],
        },
      ]) => (twin === undefined ? [] : [[whole[place]?.[0] ?? 0, twin]]),
    ),
  );
}
