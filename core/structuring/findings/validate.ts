/** Whether a corrected ParseSpec fits the file it is for; each problem points to its place in the JSON of the contract. */

import { formatRange, parseColumn, parseRange } from '../../a1/address.ts';
import { parseColumnType, typeNames } from '../../cells/columnTypes.ts';
import type { Range } from '../../grid/grid.ts';
import { findUnseenFault } from '../../names.ts';
import { findTableNameFault } from '../../table/nameFaults.ts';
import type { Misfit } from '../building/output.ts';
import { ROW_ID_NAME } from '../headers/columnNames.ts';
import type { SheetExtent } from '../sheet/extents.ts';
import { isTableRegion } from '../spec/spec.ts';
import type { RegionJson, SpecJson } from '../spec/specJson.ts';

export interface SpecProblem {
  /** JSON pointer. */
  pointer: string;
  message: string;
}

const KINDS = new Set(['data', 'report', 'form', 'title', 'note']);

export function validateSpec(sheets: SheetExtent[], spec: SpecJson): SpecProblem[] {
  const problems: SpecProblem[] = [];
  const known = new Map(sheets.map((sheet) => [sheet.name, sheet]));
  const ids = new Set<string>();
  spec.regions.forEach((region, index) => {
    const at = `/regions/${index}`;
    if (ids.has(region.id)) problems.push({ pointer: `${at}/id`, message: `there is another region ${region.id}` });
    ids.add(region.id);
    if (!KINDS.has(region.kind)) problems.push({ pointer: `${at}/kind`, message: `${region.kind} is no kind of region` });
    const sheet = known.get(region.sheet);
    if (!sheet) problems.push({ pointer: `${at}/sheet`, message: `there is no sheet ${region.sheet}` });
    const range = parseRange(region.range);
    if (!range) {
      problems.push({ pointer: `${at}/range`, message: `${region.range} is no range` });
      return;
    }
    if (sheet && (range.bottom > sheet.rows || range.right > sheet.columns))
      problems.push({
        pointer: `${at}/range`,
        message: `${region.range} goes beyond the used cells of the sheet, ${describeExtent(sheet)}`,
      });
    if (isTableRegion(region)) problems.push(...validateTable(region, range, at));
    else problems.push(...validateText(region, at));
  });
  const places = spec.regions.flatMap((region, index) => (region.selected ? [{ region, pointer: `/regions/${index}/range` }] : []));
  return [...problems, ...findOverlaps(places)];
}

/** Whether regions can be built together; the pointers are into the list of their ids. */
export function validateChoice(spec: SpecJson, regionIds: string[], at = ''): SpecProblem[] {
  const problems: SpecProblem[] = [];
  const places: { region: RegionJson; pointer: string }[] = [];
  regionIds.forEach((id, k) => {
    const pointer = `${at}/${k}`;
    const region = spec.regions.find((candidate) => candidate.id === id);
    if (!region) problems.push({ pointer, message: `there is no region ${id}` });
    else if (places.some((place) => place.region === region)) problems.push({ pointer, message: `region ${id} is listed twice` });
    else places.push({ region, pointer });
  });
  return [...problems, ...findOverlaps(places)];
}

/** What a value that does not fit its type says about the spec. */
export function describeMisfit(spec: SpecJson, misfit: Misfit): SpecProblem {
  const index = spec.regions.findIndex((region) => region.id === misfit.regionId);
  const column = spec.regions[index]?.columns.findIndex(({ from }) => from === misfit.from) ?? -1;
  return {
    pointer: `/regions/${index}/columns/${column}/type`,
    message: `${misfit.cell} holds ${JSON.stringify(misfit.value.slice(0, 100))}, which is no ${misfit.type}`,
  };
}

function describeExtent(sheet: SheetExtent): string {
  return sheet.cells === 0 ? 'which is empty' : formatRange({ top: 1, left: 1, bottom: sheet.rows, right: sheet.columns });
}

/** A merged title may reach over a table's columns while its cell does not, so texts are not held against each other here. */
function findOverlaps(places: { region: RegionJson; pointer: string }[]): SpecProblem[] {
  const problems: SpecProblem[] = [];
  const placed = new Map<string, { id: string; range: Range }[]>();
  for (const { region, pointer } of places) {
    const range = parseRange(region.range);
    if (!range || (!isTableRegion(region) && region.kind !== 'form')) continue;
    const others = placed.get(region.sheet) ?? [];
    const other = others.find((candidate) => overlaps(candidate.range, range));
    if (other) problems.push({ pointer, message: `${region.range} overlaps with region ${other.id}: a cell is used once` });
    others.push({ id: region.id, range });
    placed.set(region.sheet, others);
  }
  return problems;
}

function validateText(region: RegionJson, at: string): SpecProblem[] {
  const problems: SpecProblem[] = [];
  if (region.header_rows.length > 0) problems.push({ pointer: `${at}/header_rows`, message: `a ${region.kind} has no header` });
  if (region.columns.length > 0) problems.push({ pointer: `${at}/columns`, message: `a ${region.kind} has no columns` });
  return problems;
}

function validateTable(region: RegionJson, range: Range, at: string): SpecProblem[] {
  const problems: SpecProblem[] = [];
  const name = (region.name ?? '').trim();
  const fault = name === '' ? 'a table needs a name' : findTableNameFault(name);
  if (fault !== null) problems.push({ pointer: `${at}/name`, message: fault });
  if (region.orientation !== 'rows')
    problems.push({ pointer: `${at}/orientation`, message: 'records that run across are not read yet; transpose the sheet' });
  region.header_rows.forEach((row, k) => {
    if (row < range.top || row > range.bottom)
      problems.push({ pointer: `${at}/header_rows/${k}`, message: `row ${row} is outside of ${region.range}` });
    else if (k > 0 && row <= region.header_rows[k - 1]!)
      problems.push({ pointer: `${at}/header_rows/${k}`, message: 'header rows are listed from the top, each once' });
  });
  const data = region.data_range === null ? null : parseRange(region.data_range);
  if (region.data_range !== null && (!data || !contains(range, data)))
    problems.push({ pointer: `${at}/data_range`, message: `${region.data_range} is not inside ${region.range}` });
  if (data && region.header_rows.some((row) => row >= data.top))
    problems.push({ pointer: `${at}/header_rows`, message: 'header rows stand above the data' });
  return [...problems, ...validateColumns(region, range, at), ...validatePeriods(region, at), ...validateTotals(region, range, at)];
}

function validateColumns(region: RegionJson, range: Range, at: string): SpecProblem[] {
  const problems: SpecProblem[] = [];
  if (region.columns.length === 0) problems.push({ pointer: `${at}/columns`, message: 'a table has at least one column' });
  const names = new Set<string>();
  const letters = new Set<string>();
  region.columns.forEach((column, k) => {
    const pointer = `${at}/columns/${k}`;
    const number = parseColumn(column.from);
    if (!(number >= range.left && number <= range.right))
      problems.push({ pointer: `${pointer}/from`, message: `column ${column.from} is outside of ${region.range}` });
    else if (letters.has(column.from)) problems.push({ pointer: `${pointer}/from`, message: `column ${column.from} is used twice` });
    letters.add(column.from);
    if (!parseColumnType(column.type))
      problems.push({ pointer: `${pointer}/type`, message: `${column.type} is no type; the types are ${typeNames.join(', ')}` });
    const name = column.name.trim().toLowerCase();
    const fault = name === '' ? 'a column needs a name' : findUnseenFault(name);
    if (fault !== null) problems.push({ pointer: `${pointer}/name`, message: fault });
    else if (name === ROW_ID_NAME)
      problems.push({ pointer: `${pointer}/name`, message: `${ROW_ID_NAME} is the name of the row identifier` });
    else if (names.has(name)) problems.push({ pointer: `${pointer}/name`, message: `there is another column ${column.name}` });
    names.add(name);
  });
  return problems;
}

function validatePeriods(region: RegionJson, at: string): SpecProblem[] {
  const problems: SpecProblem[] = [];
  const known = new Set(region.columns.map((column) => column.from));
  const used = new Set<string>();
  (region.periods ?? []).forEach((period, k) => {
    const pointer = `${at}/periods/${k}/from`;
    if (!known.has(period.from)) problems.push({ pointer, message: `column ${period.from} is not among the columns` });
    else if (used.has(period.from)) problems.push({ pointer, message: `column ${period.from} has a period already` });
    used.add(period.from);
  });
  return problems;
}

function validateTotals(region: RegionJson, range: Range, at: string): SpecProblem[] {
  return (region.totals ?? []).flatMap((total, k) => {
    const own = parseRange(total.range);
    return own && contains(range, own)
      ? []
      : [{ pointer: `${at}/totals/${k}/range`, message: `${total.range} is not inside ${region.range}` }];
  });
}

function contains(outer: Range, inner: Range): boolean {
  return inner.top >= outer.top && inner.bottom <= outer.bottom && inner.left >= outer.left && inner.right <= outer.right;
}

function overlaps(a: Range, b: Range): boolean {
  return a.top <= b.bottom && b.top <= a.bottom && a.left <= b.right && b.left <= a.right;
}
