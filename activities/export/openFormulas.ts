import { type FindArea, moveFormula } from '../../core/formula/moveFormula.ts';
import { TableLayout } from '../../core/formula/tableLayout.ts';
import type { TableVersion } from '../../core/table/table.ts';
import { type LandingRecord, listLandings } from '../../store/pg/sources.ts';
import type { Services } from '../../store/services.ts';
import { listIdsAfter } from '../../store/tables/findRowIds.ts';
import type { Projection } from '../../store/tables/projection.ts';
import { listFormattedColumns, readKeptFormulas, readSourceLayout, type SourceLayout } from '../../store/tables/sourceLayout.ts';
import { readLog } from '../rows/readLog.ts';

/** By row id and position of the column: a formula as it stands in the exported workbook. */
export type RowFormulas = Map<number, Map<number, string>>;

/** The formulas of one of the exported tables. */
export interface TableFormulas {
  /** The cells are texts, as the sheet showed them; to compute with its numbers, they must be numbers again. */
  isRaw: boolean;
  /** Of some rows, in row order. */
  read(rowIds: number[]): Promise<RowFormulas>;
}

interface Exported {
  sheet: string;
  projection: Projection;
  landings: LandedRows[];
}

interface LandedRows {
  landing: LandingRecord;
  layout: TableLayout;
}

/**
 * The formulas that the ingest kept, with their references moved to where the cells stand in the workbook. A formula is left
 * out if it refers to something that is not in the workbook, and if its cell was edited since.
 */
export async function openFormulas(services: Services, projections: Projection[], sheets: string[]): Promise<TableFormulas[]> {
  const all = await listLandings(
    services.db.orm,
    projections.map(({ visible }) => visible.at.table.id),
  );
  const sources = new Set(all.filter(({ keptFormulas }) => keptFormulas > 0).map(({ sourceId }) => sourceId));
  const exported: Exported[] = [];
  for (const [i, projection] of projections.entries()) {
    const own = landingsAt(all, projection.visible.at).filter(({ sourceId }) => sources.has(sourceId));
    exported.push({ sheet: sheets[i] as string, projection, landings: await openLandings(services, projection, own, sheets[i] as string) });
  }
  return exported.map((each) => ({
    isRaw: each.landings.some(({ landing }) => landing.role === 'raw'),
    read: (rowIds) => readFormulas(services, exported, each, rowIds),
  }));
}

/** What a version holds: what was appended, and the content of the newest file, whose rows may have had their ids before. */
function landingsAt(landings: LandingRecord[], { table, editVersion }: TableVersion): LandingRecord[] {
  const own = landings.filter((each) => each.tableId === table.id && each.editVersion <= editVersion);
  const newest = Math.max(...own.map((each) => (each.role === 'appended' ? 0 : each.editVersion)));
  return own.filter((each) => each.role === 'appended' || each.editVersion === newest);
}

async function openLandings(services: Services, projection: Projection, landings: LandingRecord[], sheet: string): Promise<LandedRows[]> {
  if (landings.length === 0) return [];
  const ids = await listIds(services, projection);
  const placeOf = new Map(projection.columns.flatMap(({ id, masked }, place) => (masked ? [] : [[id, place + 1] as const])));
  return Promise.all(
    landings.map(async (landing) => {
      const { rows, columns } = await readLayout(services, landing, projection, ids);
      const placed = rows.flatMap(([sheetRow, rowNumber]): [number, number][] => {
        const place = findPlace(ids, landing.rowBase + rowNumber);
        // The header stands in the first row.
        return place < 0 ? [] : [[sheetRow, place + 2]];
      });
      const moved = [...columns].flatMap(([sheetColumn, id]) => {
        const place = placeOf.get(id);
        return place === undefined ? [] : [[sheetColumn, place] as const];
      });
      return { landing, layout: new TableLayout(sheet, placed, new Map(moved)) };
    }),
  );
}

async function readLayout(
  services: Services,
  { role, provenanceKey, keptKey, rowBase, minRow, maxRow }: LandingRecord,
  { columns }: Projection,
  ids: Float64Array,
): Promise<SourceLayout> {
  if (role !== 'raw') return provenanceKey ? readSourceLayout(services, provenanceKey) : { rows: [], columns: new Map() };
  // The rows and columns of a raw table are those of its sheet.
  const formatted = keptKey ? await listFormattedColumns(services, keptKey) : new Set<number>();
  const rows: SourceLayout['rows'] = [];
  for (const id of ids) if (id >= minRow && id <= maxRow) rows.push([id - rowBase, id - rowBase]);
  return { rows, columns: new Map(columns.flatMap(({ id }) => (formatted.has(id) ? [] : [[id, id]]))) };
}

/** All row ids in order. */
async function listIds(services: Services, { visible: { at } }: Projection): Promise<Float64Array> {
  const ids = new Float64Array(at.rowCount);
  let count = 0;
  for (
    let page = await listIdsAfter(services, at, 0, 100_000);
    page.length > 0;
    page = await listIdsAfter(services, at, ids[count - 1] ?? 0, 100_000)
  ) {
    ids.set(page, count);
    count += page.length;
  }
  return ids;
}

/** The place of an id in order; -1 if it is not there. */
function findPlace(ids: Float64Array, id: number): number {
  let [low, high] = [0, ids.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = ids[middle] as number;
    if (found === id) return middle;
    if (found < id) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

async function readFormulas(services: Services, exported: Exported[], own: Exported, rowIds: number[]): Promise<RowFormulas> {
  const formulas: RowFormulas = new Map();
  const [first, last] = [rowIds[0], rowIds.at(-1)];
  if (first === undefined || last === undefined) return formulas;
  const { at } = own.projection.visible;
  const placeOf = new Map(own.projection.columns.flatMap(({ id, masked }, place) => (masked ? [] : [[id, place] as const])));
  const present = new Set(rowIds);
  for (const { landing } of own.landings) {
    const { keptKey, rowBase } = landing;
    if (keptKey === null || landing.keptFormulas === 0 || landing.minRow > last || landing.maxRow < first) continue;
    const kept = (await readKeptFormulas(services, keptKey, first - rowBase, last - rowBase)).filter(({ rowNumber, columnId }) => {
      return present.has(rowBase + rowNumber) && placeOf.has(columnId);
    });
    const edited = await listEdited(services, at, landing.editVersion, [...new Set(kept.map(({ rowNumber }) => rowBase + rowNumber))]);
    const findArea = findIn(exported, own, landing);
    for (const { rowNumber, columnId, formula } of kept) {
      const rowId = rowBase + rowNumber;
      if (edited.has(`${rowId} ${columnId}`)) continue;
      const moved = moveFormula(formula, { from: landing.sheet, to: own.sheet }, findArea);
      if (moved === null) continue;
      const row = formulas.get(rowId) ?? new Map<number, string>();
      formulas.set(rowId, row.set(placeOf.get(columnId) as number, moved));
    }
  }
  return formulas;
}

/** Looks for an area of the same file, first in the table where the formula stands. */
function findIn(exported: Exported[], own: Exported, { sourceId, revision }: LandingRecord): FindArea {
  const layouts = [own, ...exported.filter((each) => each !== own)]
    .flatMap(({ landings }) => landings)
    .filter(({ landing }) => landing.sourceId === sourceId && landing.revision === revision);
  return (sheet, area) => {
    for (const { landing, layout } of layouts) {
      const found = landing.sheet.toLowerCase() === sheet.toLowerCase() ? layout.find(area) : null;
      if (found) return found;
    }
    return null;
  };
}

/** Cells that were edited after the version, as row and column id. */
export async function listEdited(
  services: Services,
  { table, editVersion }: Projection['visible']['at'],
  after: number,
  rowIds: number[],
): Promise<Set<string>> {
  const entries = await readLog(services, table.id, { after, upTo: editVersion, rowIds, withCells: false });
  return new Set(entries.flatMap(({ rowId, changed }) => changed.map((columnId) => `${rowId} ${columnId}`)));
}
