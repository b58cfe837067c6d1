import { listKeyCandidates, listShared, type SharedColumn } from '../../core/merge/chooseKey.ts';
import type { RevisedColumns } from '../../core/merge/reviseColumns.ts';
import type { Cells, ColumnRecord, TableAt } from '../../core/table/table.ts';
import { seeEverything } from '../../core/table/visibleTable.ts';
import type { Services } from '../../store/services.ts';
import { findRowsByKey } from '../../store/tables/findRowsByKey.ts';
import { alignRows, isKey } from '../../store/tables/matchRows.ts';

/** A table whose file was revised: as the old file landed, as it is, and as the new file lands. */
export interface Sides {
  base: TableAt;
  current: TableAt;
  next: TableAt;
  revised: RevisedColumns;
}

type Keys = [rowId: number, key: (string | null)[]][];

/** Ids of rows that people touched, with those that the rows have in the new file. */
export async function findTwins(
  services: Services,
  { base, next, revised }: Sides,
  before: Map<number, Cells>,
  now: Map<number, Cells>,
): Promise<Map<number, number>> {
  const key = await findKey(services, base, next, revised);
  if (key.length === 0) return alignRows(services, base, next, listShared(revised.columns), [...before.keys()]);
  const [ofBase, ofNext] = [key.map((column) => column.base), key.map((column) => column.next)];
  const twins = await findByKey(services, next, ofNext, readKeys(before, ofBase));
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

/** The columns that tell rows apart, in the old file and in the new one; none: no columns do. */
async function findKey(services: Services, base: TableAt, next: TableAt, revised: RevisedColumns): Promise<SharedColumn[]> {
  const candidates = listKeyCandidates(revised.columns);
  for (let length = 1; length <= candidates.length; length += 1) {
    const key = candidates.slice(0, length);
    const [ofBase, ofNext] = [key.map((column) => column.base), key.map((column) => column.next)];
    if ((await isKey(services, base, ofBase)) && (await isKey(services, next, ofNext))) return key;
  }
  return [];
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
