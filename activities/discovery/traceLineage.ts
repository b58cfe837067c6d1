import { notFound } from '../../core/errors.ts';
import type { TableRecord, TableVersion } from '../../core/table/table.ts';
import type { VisibleTable } from '../../core/table/visibleTable.ts';
import { listEdges } from '../../store/pg/lineage.ts';
import { type LandingRecord, listLandings, type SourceRecord } from '../../store/pg/sources.ts';
import { listTablesById } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { hasRow } from '../../store/tables/findRowIds.ts';
import { readRawCells, readRowCells } from '../../store/tables/sourceCells.ts';

export interface LineageGraph {
  tables: TableRecord[];
  sources: SourceRecord[];
  landings: LandingRecord[];
  /** From the table that was read to the table that was made, by id. */
  edges: { from: string; to: string }[];
}

/** Everything a table was made from, up to the sheets of its sources, and everything made from it. */
export async function traceLineage(services: Services, table: TableRecord): Promise<LineageGraph> {
  const edges = await listEdges(services.db.pool, table.id);
  const ids = [...new Set([table.id, ...edges.flatMap(({ from, to }) => [from, to])])];
  const tables = (await listTablesById(services.db.pool, ids)).map((at) => at.table).filter(({ deletedAt }) => deletedAt === null);
  const known = new Set(tables.map(({ id }) => id));
  const landed = await listLandings(services.db.orm, [...known]);
  const sources = [...new Map(landed.map(({ source }) => [source.id, source])).values()];
  return {
    tables,
    sources,
    landings: landed.filter(({ source, revision }) => source.revision === revision),
    edges: edges.filter(({ from, to }) => known.has(from) && known.has(to)),
  };
}

export interface RowOrigin {
  source: string;
  sheet: string | null;
  range: string;
  columns: string[];
}

const mostRanges = 1000;

/** The cells a row came from. Names only columns that the caller may see, and leaves out cells of others. */
export async function traceRow(
  services: Services,
  { at, columns, effects }: VisibleTable,
  rowId: number,
): Promise<{ cells: RowOrigin[]; truncated: boolean }> {
  const landing = (await listLandings(services.db.orm, [at.table.id])).find(({ minRow, maxRow }) => minRow <= rowId && rowId <= maxRow);
  if (!landing) {
    if (!(await hasRow(services, at, rowId))) throw notFound('row in this table');
    return { cells: [], truncated: false };
  }
  const names = new Map(columns.map(({ id, name }) => [id, name]));
  const found = await readCells(services, at, landing, rowId);
  if (found.length === 0 && !(await hasRow(services, at, rowId))) throw notFound('row in this table');
  const { source } = landing;
  const cells = found.slice(0, mostRanges).flatMap(({ range, columnIds }): RowOrigin[] => {
    // Hides cells that fill only denied columns.
    if (columnIds.length > 0 && columnIds.every((id) => effects.get(id) === 'deny')) return [];
    const filled = columnIds.flatMap((id) => names.get(id) ?? []);
    return [{ source: source.name, sheet: source.format === 'xlsx' ? landing.sheet : null, range, columns: filled }];
  });
  return { cells, truncated: found.length > mostRanges };
}

async function readCells(services: Services, at: TableVersion, landing: LandingRecord, rowId: number) {
  const { provenanceKey, role, rowBase } = landing;
  if (provenanceKey !== null) return readRowCells(services, provenanceKey, rowId - rowBase, mostRanges + 1);
  if (role === 'raw') return readRawCells(services, at.layers, rowBase, rowId, mostRanges + 1);
  return landing.range === null ? [] : [{ range: landing.range, columnIds: [] as number[] }];
}
