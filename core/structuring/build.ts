/** Building: follows a ParseSpec, and accounts for every cell while it does. */

import type { Grid } from '../grid/grid.ts';
import { buildTableRegion } from './buildTable.ts';
import { Ledger } from './ledger.ts';
import { baseOfFile, NameRegistry } from './names.ts';
import { buildNotes } from './notes.ts';
import type { BuildResult, Conservation, Finding, OutputTable } from './output.ts';
import { findDoubt } from './doubt.ts';
import { buildRawTable, nameRawTables } from './raw.ts';
import { findWrongTotals } from './reaggregate.ts';
import { SheetView } from './sheet.ts';
import { isTableRegion, type ParseSpec, type SpecRegion } from './spec.ts';

export function build(grids: Grid[], spec: ParseSpec, fileName: string): BuildResult {
  const registry = new NameRegistry();
  const rawNames = nameRawTables(grids, fileName, baseOfFile);
  const result: BuildResult = { tables: [], archivedRaw: [], findings: [], conservation: [], rawSheets: [] };
  grids.forEach((grid, k) => {
    const regions = spec.regions.filter((region) => region.sheet === grid.sheet && region.selected);
    const sheet = buildSheet(grid, regions);
    result.conservation.push(sheet.conservation);
    if (grid.size === 0) return;
    const reason = sheet.reason;
    if (reason !== null) {
      result.rawSheets.push({ sheet: grid.sheet, reason });
      result.findings.push({ kind: 'not_understood', sheet: grid.sheet, table: rawNames[k]!, cell: '', stated: null, computed: null, message: reason });
      result.tables.push({ ...buildRawTable(grid), name: registry.claim(rawNames[k]!, grid.sheet) });
      return;
    }
    for (const table of sheet.tables) result.tables.push({ ...table, name: registry.claim(table.name, grid.sheet) });
    result.findings.push(...sheet.findings);
    result.archivedRaw.push(`${rawNames[k]!}_原本`);
  });
  return result;
}

interface BuiltSheet {
  tables: OutputTable[];
  findings: Finding[];
  conservation: Conservation;
  /** Why the sheet stays raw; null when it was understood. */
  reason: string | null;
}

function buildSheet(grid: Grid, regions: SpecRegion[]): BuiltSheet {
  const view = new SheetView(grid);
  const ledger = new Ledger(view);
  const tables: OutputTable[] = [];
  const findings: Finding[] = [];
  for (const region of regions.filter(isTableRegion)) {
    const built = buildTableRegion(view, ledger, region);
    tables.push(...built.tables);
    findings.push(...findWrongTotals(view, region, built));
  }
  const notes = buildNotes(view, ledger, regions.filter((region) => !isTableRegion(region)), `${grid.sheet}_補足情報`);
  if (notes) tables.push(notes);
  const conservation = ledger.summarize();
  return { tables, findings, conservation, reason: findDoubt(view, regions, conservation) };
}
