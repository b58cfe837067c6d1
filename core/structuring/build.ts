/** Building: follows a ParseSpec, and accounts for every cell while it does. */

import { parseRange } from '../a1/address.ts';
import type { Grid } from '../grid/grid.ts';
import { buildTableRegion } from './building/buildTable.ts';
import type { TypeRules } from './building/emitPlan.ts';
import { Ledger } from './building/ledger.ts';
import { buildFields, buildNotes } from './building/notes.ts';
import type { BuildResult, Conservation, OutputTable } from './building/output.ts';
import { buildRawTable, nameRawTables } from './building/raw.ts';
import { findColumnLosses } from './findings/columnFindings.ts';
import { findDoubt } from './findings/doubt.ts';
import { findWrongTotals } from './findings/reaggregate.ts';
import { listStale, listUncomputed } from './findings/uncomputed.ts';
import { baseOfFile, NameRegistry, nameArchivedRaw } from './names/names.ts';
import { type Naming, namingOf } from './names/naming.ts';
import { dropBlankTexts } from './sheet/blanks.ts';
import { CellValues } from './sheet/cellValues.ts';
import { readLines } from './sheet/lines.ts';
import { SheetView } from './sheet/sheet.ts';
import { openSumBudget, type SumBudget } from './sheet/sumBudget.ts';
import type { Finding } from './spec/finding.ts';
import { isTableRegion, type ParseSpec, type SpecRegion } from './spec/spec.ts';

/** Builds all regions of the ParseSpec, selected or not. A sheet that is not understood stays a raw table. */
export function build(grids: Grid[], spec: ParseSpec, fileName: string): BuildResult {
  const naming = namingOf(spec);
  const registry = new NameRegistry();
  const rawNames = nameRawTables(grids, fileName, baseOfFile);
  const result = emptyResult();
  const sums = openSumBudget();
  grids.forEach((grid, k) => {
    const sheet = buildSheet(grid, regionsOf(spec, grid), () => true, { binding: false, misfits: result.misfits }, naming, sums);
    result.conservation.push(sheet.conservation);
    result.findings.push(...listUncomputed(grid), ...listStale(grid));
    if (grid.size === 0) return;
    const { reason } = sheet;
    if (reason !== null) {
      result.rawSheets.push({ sheet: grid.sheet, reason });
      result.findings.push({
        kind: 'not_understood',
        sheet: grid.sheet,
        table: rawNames[k]!,
        cell: '',
        stated: null,
        computed: null,
        message: reason,
      });
      result.tables.push({ ...buildRawTable(grid), name: registry.claim(rawNames[k]!, grid.sheet) });
      return;
    }
    for (const table of sheet.tables) result.tables.push({ ...table, name: registry.claim(table.name, grid.sheet) });
    result.findings.push(...sheet.findings);
    result.archivedRaw.push(nameArchivedRaw(rawNames[k]!, naming));
  });
  return result;
}

/**
 * Builds only chosen regions: those with the given ids or, for null, those selected in the ParseSpec. The choice is final: cells
 * left out are listed but do not make the sheet raw, and types are binding (see `misfits`).
 */
export function buildSelected(grids: Grid[], spec: ParseSpec, regionIds: string[] | null): BuildResult {
  const chosen = regionIds && new Set(regionIds);
  const registry = new NameRegistry();
  const result = emptyResult();
  const sums = openSumBudget();
  for (const grid of grids) {
    const isChosen = (region: SpecRegion) => (chosen ? chosen.has(region.id) : region.selected);
    const regions = regionsOf(spec, grid);
    if (!regions.some(isChosen)) continue;
    const sheet = buildSheet(grid, regions, isChosen, { binding: true, misfits: result.misfits }, namingOf(spec), sums);
    result.conservation.push(sheet.conservation);
    result.findings.push(...sheet.findings);
    for (const table of sheet.tables) result.tables.push({ ...table, name: registry.claim(table.name, grid.sheet) });
  }
  return result;
}

function emptyResult(): BuildResult {
  return { tables: [], archivedRaw: [], findings: [], conservation: [], rawSheets: [], misfits: [] };
}

function regionsOf(spec: ParseSpec, grid: Grid): SpecRegion[] {
  return spec.regions.filter((region) => region.sheet === grid.sheet);
}

interface BuiltSheet {
  tables: OutputTable[];
  findings: Finding[];
  conservation: Conservation;
  /** Why the sheet stays raw; null when it was understood. */
  reason: string | null;
}

function buildSheet(
  grid: Grid,
  all: SpecRegion[],
  isChosen: (region: SpecRegion) => boolean,
  types: TypeRules,
  naming: Naming,
  sums: SumBudget,
): BuiltSheet {
  const regions = all.filter(isChosen);
  const seen = dropBlankTexts(grid);
  const view = new SheetView(seen.grid, sums);
  const ledger = new Ledger(view);
  const tables: OutputTable[] = [];
  const findings: Finding[] = [];
  for (const region of regions.filter(isTableRegion)) {
    const built = buildTableRegion({ view, ledger, types, naming }, region);
    tables.push(...built.tables);
    findings.push(...findWrongTotals(view, region, built));
  }
  for (const table of tables) findings.push(...findColumnLosses(view, table));
  const texts = regions.filter((region) => !isTableRegion(region));
  const fields = buildFields(
    view,
    ledger,
    texts.filter((region) => region.kind === 'form'),
    naming,
  );
  const notes = buildNotes(view, ledger, fields ? texts.filter((region) => region.kind !== 'form') : texts, naming);
  if (fields) tables.push(fields);
  if (notes) tables.push(notes);
  for (const region of all) if (!isChosen(region)) leaveOut(view, ledger, region);
  if (seen.origin) for (const table of tables) moveCells(table, grid, seen.origin);
  const conservation = ledger.summarize();
  return { tables, findings, conservation, reason: findDoubt(view, regions, conservation, findings) };
}

/** Lets a table speak of the cells of the whole grid, of which it was made from a part. */
function moveCells(table: OutputTable, grid: Grid, origin: Int32Array): void {
  table.provenance.cells = Int32Array.from(table.provenance.cells, (cell) => origin[cell]!);
  table.values = table.values.map((list) => (list instanceof CellValues ? list.moveTo(grid, origin) : list));
}

/** Marks the cells of regions that were not chosen as omitted, so that they do not count as lost. */
function leaveOut(view: SheetView, ledger: Ledger, region: SpecRegion): void {
  for (const line of readLines(view, parseRange(region.range) ?? { top: 1, left: 1, bottom: 0, right: 0 })) {
    for (let i = line.from; i < line.to; i += 1) ledger.omit(i);
  }
}
