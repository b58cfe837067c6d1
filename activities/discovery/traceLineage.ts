import type { Principal } from '../../core/access/principal.ts';
import { notFound } from '../../core/errors.ts';
import type { Flows } from '../../core/lineage/flows.ts';
import type { TableAt, TableRecord, TableVersion } from '../../core/table/table.ts';
import type { VisibleTable } from '../../core/table/visibleTable.ts';
import { listShowings, type Showing } from '../../store/pg/artifacts.ts';
import { listEdges, type TableEdge } from '../../store/pg/lineage.ts';
import { type LandingRecord, listLandings, type SourceRecord } from '../../store/pg/sources.ts';
import { listTablesById } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { hasRow } from '../../store/tables/findRowIds.ts';
import { readRawCells, readRowCells } from '../../store/tables/sourceCells.ts';
import { findTransformsOf, type TransformOfTable } from '../tables/findTransformsOf.ts';
import { openVisibleColumns, openVisibleTable } from '../tables/openVisibleTable.ts';
import { type InputRows, traceInputRows } from './traceInputRows.ts';

export interface LineageGraph {
  tables: TableRecord[];
  sources: SourceRecord[];
  landings: LandingRecord[];
  edges: LineageEdge[];
  /** What derives tables, by id of its output. */
  transforms: ReadonlyMap<string, TransformOfTable>;
  /** Sheets and charts of the table and of what is made from it. */
  showings: Showing[];
}

/** From the table that was read to the table that was made, by id. */
export interface LineageEdge {
  from: string;
  to: string;
  kind: TableEdge['kind'];
  /** Null: not known, so that every column may matter. */
  columns: FlowOfColumn[] | null;
}

/** A column that was read, and the columns of the result that depend on it; all of them if it decides the rows. */
export interface FlowOfColumn {
  column: string;
  to: string[];
  decidesRows: boolean;
}

/** Names of columns in one answer; edges beyond that tell none. */
const mostNames = 20_000;

/** Everything a table was made from, up to the sheets of its sources, and everything made from it. Names no column that is denied. */
export async function traceLineage(services: Services, principal: Principal, table: TableRecord): Promise<LineageGraph> {
  const edges = await listEdges(services.db.pool, table.id);
  const ids = [...new Set([table.id, ...edges.flatMap(({ from, to }) => [from, to])])];
  const found = (await listTablesById(services.db.pool, ids)).filter((at) => at.table.deletedAt === null);
  const tables = found.map((at) => at.table);
  const known = new Set(tables.map(({ id }) => id));
  const landed = await listLandings(services.db.orm, [...known]);
  const sources = [...new Map(landed.map(({ source }) => [source.id, source])).values()];
  return {
    tables,
    sources,
    landings: landed.filter(({ source, revision }) => source.revision === revision),
    edges: await nameColumns(
      services,
      principal,
      found,
      edges.filter(({ from, to }) => known.has(from) && known.has(to)),
    ),
    transforms: await findTransformsOf(services, tables),
    showings: await listShowings(services.db.pool, table.workbookId, listMadeFrom(table.id, edges)),
  };
}

/** A table and all that is made from it, by id. */
function listMadeFrom(tableId: string, edges: TableEdge[]): string[] {
  const reached = new Set([tableId]);
  // A set hands out what is added while it is walked.
  for (const id of reached) for (const { from, to } of edges) if (from === id) reached.add(to);
  return [...reached];
}

async function nameColumns(services: Services, principal: Principal, tables: TableAt[], edges: TableEdge[]): Promise<LineageEdge[]> {
  const derived = new Set(edges.filter(({ flows }) => flows !== null).flatMap(({ from, to }) => [from, to]));
  const names = new Map<string, Map<number, string>>();
  for (const at of tables.filter(({ table }) => derived.has(table.id))) {
    const { columns } = await openVisibleColumns(services, principal, at);
    names.set(at.table.id, new Map(columns.map(({ id, name }) => [id, name])));
  }
  let left = mostNames;
  return edges.map(({ from, to, kind, flows }) => {
    const columns = flows && nameFlows(flows, names.get(from) ?? new Map(), names.get(to) ?? new Map());
    left -= columns?.reduce((sum, flow) => sum + 1 + flow.to.length, 0) ?? 0;
    return { from, to, kind, columns: left < 0 ? null : columns };
  });
}

/** Leaves out columns that the caller may not know, and those that are gone. */
function nameFlows({ columns }: Flows, inputs: ReadonlyMap<number, string>, outputs: ReadonlyMap<number, string>): FlowOfColumn[] {
  return Object.entries(columns).flatMap(([id, reach]): FlowOfColumn[] => {
    const column = inputs.get(Number(id));
    const to = reach === 'all' ? [] : reach.flatMap((each) => outputs.get(each) ?? []);
    return column === undefined || (reach !== 'all' && to.length === 0) ? [] : [{ column, to, decidesRows: reach === 'all' }];
  });
}

export interface RowOrigin {
  source: string;
  sheet: string | null;
  range: string;
  columns: string[];
}

const mostRanges = 1000;

/** The cells of sheets, or the rows of other tables, that a row came from. */
export async function traceRow(
  services: Services,
  principal: Principal,
  at: TableAt,
  rowId: number,
): Promise<{ cells: RowOrigin[] } & InputRows> {
  const { cells, truncated } = await traceCells(services, await openVisibleTable(services, principal, at), rowId);
  const made = await traceInputRows(services, principal, at, rowId);
  return { cells, inputs: made.inputs, truncated: truncated || made.truncated };
}

/** Names only columns that the caller may see, and leaves out cells of others. */
async function traceCells(
  services: Services,
  { at, columns, effects }: VisibleTable,
  rowId: number,
): Promise<{ cells: RowOrigin[]; truncated: boolean }> {
  const landed = await findLanding(services, at, rowId);
  if (!landed) {
    if (!(await hasRow(services, at, rowId))) throw notFound('row in this table');
    return { cells: [], truncated: false };
  }
  const { landing, found } = landed;
  const names = new Map(columns.map(({ id, name }) => [id, name]));
  const { source } = landing;
  const cells = found.slice(0, mostRanges).flatMap(({ range, columnIds }): RowOrigin[] => {
    // Hides cells that fill only denied columns.
    if (columnIds.length > 0 && columnIds.every((id) => effects.get(id) === 'deny')) return [];
    const filled = columnIds.flatMap((id) => names.get(id) ?? []);
    return [{ source: source.name, sheet: source.format === 'xlsx' ? landing.sheet : null, range, columns: filled }];
  });
  return { cells, truncated: found.length > mostRanges };
}

/** The newest landing that the row is from: rows keep their ids where their file is revised. */
async function findLanding(services: Services, at: TableVersion, rowId: number) {
  for (const landing of await listLandings(services.db.orm, [at.table.id])) {
    if (rowId < landing.minRow || rowId > landing.maxRow) continue;
    const found = await readCells(services, at, landing, rowId);
    if (found.length > 0) return { landing, found };
  }
  return null;
}

async function readCells(services: Services, at: TableVersion, landing: LandingRecord, rowId: number) {
  const { provenanceKey, role, rowBase } = landing;
  if (provenanceKey !== null) return readRowCells(services, provenanceKey, rowId - rowBase, mostRanges + 1);
  if (role === 'raw') return readRawCells(services, at.layers, rowBase, rowId, mostRanges + 1);
  return landing.range === null ? [] : [{ range: landing.range, columnIds: [] as number[] }];
}
