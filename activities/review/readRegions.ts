import { parseRange } from '../../core/a1/address.ts';
import type { Principal } from '../../core/access/principal.ts';
import type { TableSample } from '../../core/review/model/prompts.ts';
import { type PlacedTable, placeTables, regionOfTable } from '../../core/review/placeTables.ts';
import type { Region } from '../../core/review/region.ts';
import { namingOf } from '../../core/structuring/index.ts';
import type { TableAt } from '../../core/table/table.ts';
import { type LandingRecord, listLandings } from '../../store/pg/sources.ts';
import type { Services } from '../../store/services.ts';
import { readPlacements } from '../../store/tables/readPlacements.ts';
import { readKeptFormulas } from '../../store/tables/sourceLayout.ts';
import { listEdited } from '../export/openFormulas.ts';
import { openVisibleTable } from '../tables/openVisibleTable.ts';
import { sampleTable } from './consultModel.ts';
import { type ReadTable, readTable } from './readTable.ts';

/** Cells whose places in a sheet are held at a time. */
const mostPlacements = 600_000;

export interface ReadRegion {
  region: Region;
  tables: { name: string; rowsRead: number; rowCount: number }[];
}

/** Tables that came from one region of a sheet, or one table. */
interface Group {
  key: string;
  members: { at: TableAt; landing: LandingRecord | null }[];
}

/** Accounts and notes describe other tables; there is nothing in them to review. */
const describing = new Set<string>(['accounts', 'notes']);

/** Groups the tables that are looked at together, and names those that are left out. */
export async function groupTables(services: Services, tables: TableAt[]): Promise<{ groups: Group[]; skipped: string[] }> {
  const landings = await listLandings(
    services.db.orm,
    tables.map(({ table }) => table.id),
  );
  const groups = new Map<string, Group>();
  const skipped: string[] = [];
  for (const at of tables) {
    const own = landings.filter(({ tableId }) => tableId === at.table.id);
    const [landing] = own;
    if (at.table.type === 'report' || (landing && describing.has(landing.role))) {
      skipped.push(at.table.name);
      continue;
    }
    const isPlaced = own.length === 1 && landing && landing.provenanceKey !== null && landing.role !== 'appended';
    const key = isPlaced ? [landing.sourceId, landing.revision, landing.sheet, landing.regionId].join(' ') : at.table.id;
    const group = groups.get(key) ?? { key, members: [] };
    group.members.push({ at, landing: isPlaced ? landing : (own.find(({ role }) => role === 'raw') ?? null) });
    groups.set(key, group);
  }
  return { groups: [...groups.values()], skipped };
}

/** The cells of a group as the caller may see them. Tables of which it is not known where they stood are looked at by themselves. */
export async function readRegions(
  services: Services,
  principal: Principal,
  { members }: Group,
  withSamples: boolean,
  signal?: AbortSignal,
): Promise<{ regions: ReadRegion[]; samples: TableSample[] }> {
  const samples: TableSample[] = [];
  const placed: { read: ReadTable; landing: LandingRecord; table: PlacedTable }[] = [];
  const regions: ReadRegion[] = [];
  for (const { at, landing } of members) {
    const read = await readTable(services, await openVisibleTable(services, principal, at), signal);
    if (withSamples) samples.push(sampleTable(read));
    const table = landing && landing.role !== 'raw' ? await placeTable(services, read, landing) : null;
    if (table && landing) placed.push({ read, landing, table });
    else regions.push({ region: { ...toRegion(read), isRaw: landing?.role === 'raw' }, tables: [describe(read)] });
  }
  if (placed.length > 0) {
    const [{ read }] = placed as [(typeof placed)[0]];
    const region = placeTables(
      read.visible.at.table.name,
      placed.map(({ table }) => table),
    );
    const formulaAt = await openSheetFormulas(services, placed);
    regions.push({
      region: formulaAt ? { ...region, formulaAt: withPlaces(region, formulaAt) } : region,
      tables: placed.map((each) => describe(each.read)),
    });
  }
  return { regions, samples };
}

function describe({ visible, rows }: ReadTable): ReadRegion['tables'][0] {
  return { name: visible.at.table.name, rowsRead: rows.length, rowCount: visible.at.rowCount };
}

function toRegion({ visible, columns, rows, rowIds }: ReadTable): Region {
  return regionOfTable(visible.at.table.name, columns, rows, rowIds);
}

const periodNames = new Set([namingOf({ naming: 'ja' }).period, namingOf({ naming: 'en' }).period]);

/** Null: it cannot be told where its rows belong in the sheet. */
async function placeTable(services: Services, read: ReadTable, landing: LandingRecord): Promise<PlacedTable | null> {
  const { provenanceKey, rowBase, editVersion } = landing;
  if (provenanceKey === null || !read.isWhole) return null;
  const placements = await readPlacements(services, provenanceKey, mostPlacements);
  if (!placements) return null;
  const rowOf = new Map(read.rowIds.map((id, row) => [id, row]));
  const columnOf = new Map(read.columns.map(({ id }, column) => [id, column]));
  const cells = placements.flatMap(({ rowNumber, columnId, sheetRow, sheetColumn }) => {
    const [row, column] = [rowOf.get(rowBase + rowNumber), columnOf.get(columnId)];
    return row === undefined || column === undefined ? [] : [{ row, column, sheetRow, sheetColumn }];
  });
  const periodColumn = read.columns.findIndex(({ name }) => periodNames.has(name));
  // A row that was added to one period has no row of a sheet.
  if (periodColumn >= 0 && new Set(cells.map(({ row }) => row)).size < read.rows.length) return null;
  const { rows, rowIds, columns, visible } = read;
  // A cell of the sheet without a value says that there is none, unless somebody cleared it since.
  const isBlank = ({ row, column }: PlacedTable['cells'][0]) => rows[row]?.[column] === null;
  const blankRows = [...new Set(cells.filter(isBlank).map(({ row }) => rowIds[row] as number))];
  const edited = blankRows.length === 0 ? new Set() : await listEdited(services, visible.at, editVersion, blankRows);
  const kept = cells.filter((cell) => !isBlank(cell) || !edited.has(`${rowIds[cell.row]} ${columns[cell.column]?.id}`));
  return { name: visible.at.table.name, columns, rows, rowIds, periodColumn, cells: kept };
}

interface FoundFormula {
  formula: string;
  isEdited: boolean;
}

/** Formulas of the cells that tables came from, by table and row id and column name; null where there are none. */
async function openSheetFormulas(
  services: Services,
  placed: { read: ReadTable; landing: LandingRecord }[],
): Promise<Map<string, FoundFormula> | null> {
  const found = new Map<string, FoundFormula>();
  for (const { read, landing } of placed) {
    if (landing.keptKey === null || landing.keptFormulas === 0 || landing.keptFormulas > mostPlacements) continue;
    const { at } = read.visible;
    const kept = await readKeptFormulas(services, landing.keptKey, landing.minRow - landing.rowBase, landing.maxRow - landing.rowBase);
    const rowIds = [...new Set(kept.map(({ rowNumber }) => landing.rowBase + rowNumber))];
    const edited = await listEdited(services, at, landing.editVersion, rowIds);
    const names = new Map(read.columns.map(({ id, name }) => [id, name]));
    for (const { rowNumber, columnId, formula } of kept) {
      const rowId = landing.rowBase + rowNumber;
      const isEdited = edited.has(`${rowId} ${columnId}`);
      found.set(JSON.stringify([at.table.name, rowId, names.get(columnId)]), { formula, isEdited });
    }
  }
  return found.size > 0 ? found : null;
}

function withPlaces(region: Region, formulas: Map<string, FoundFormula>): NonNullable<Region['formulaAt']> {
  return (row, column) => {
    const place = region.locate(row, column);
    const found = place && formulas.get(JSON.stringify([place.table, place.rowId, place.column]));
    const cell = place?.cell ? parseRange(place.cell) : null;
    return found && cell ? { ...found, row: cell.top, column: cell.left } : null;
  };
}
