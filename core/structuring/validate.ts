/** Whether a corrected ParseSpec fits the file it is for; each problem points to its place in the spec. */

import type { Grid, Range } from '../grid/grid.ts';
import { columnNumber, parseRange } from './a1.ts';
import { isTableRegion, type ParseSpec, type SpecRegion } from './spec.ts';

export interface SpecProblem {
  /** JSON pointer into the ParseSpec. */
  pointer: string;
  message: string;
}

const KINDS = new Set(['data', 'report', 'form', 'title', 'note']);
const TYPES = new Set(['BIGINT', 'DOUBLE', 'BOOLEAN', 'DATE', 'TIMESTAMP', 'VARCHAR']);

export function validateSpec(grids: Grid[], spec: ParseSpec): SpecProblem[] {
  const problems: SpecProblem[] = [];
  const sheets = new Set(grids.map((grid) => grid.sheet));
  const placed: { sheet: string; range: Range; index: number }[] = [];
  spec.regions.forEach((region, index) => {
    const at = `/regions/${index}`;
    if (!sheets.has(region.sheet)) problems.push({ pointer: `${at}/sheet`, message: `there is no sheet ${region.sheet}` });
    if (!KINDS.has(region.kind)) problems.push({ pointer: `${at}/kind`, message: `${region.kind} is no kind of region` });
    const range = parseRange(region.range);
    if (!range) {
      problems.push({ pointer: `${at}/range`, message: `${region.range} is no range` });
      return;
    }
    // A merged title may reach over a table's columns while its cell does not; doubled cells show in the conservation.
    if (region.selected && (isTableRegion(region) || region.kind === 'form')) {
      const other = placed.find((candidate) => candidate.sheet === region.sheet && overlaps(candidate.range, range));
      if (other) problems.push({ pointer: `${at}/range`, message: `overlaps with region ${other.index}` });
      placed.push({ sheet: region.sheet, range, index });
    }
    if (isTableRegion(region)) problems.push(...validateTable(region, range, at));
  });
  return problems;
}

function validateTable(region: SpecRegion, range: Range, at: string): SpecProblem[] {
  const problems: SpecProblem[] = [];
  const inRows = (row: number) => row >= range.top && row <= range.bottom;
  const inColumns = (letters: string) => columnNumber(letters) >= range.left && columnNumber(letters) <= range.right;
  if (region.name.trim() === '') problems.push({ pointer: `${at}/name`, message: 'a table needs a name' });
  region.header_rows.forEach((row, k) => {
    if (!inRows(row)) problems.push({ pointer: `${at}/header_rows/${k}`, message: `row ${row} is outside of ${region.range}` });
  });
  const data = region.data_range === null ? null : parseRange(region.data_range);
  if (
    region.data_range !== null &&
    (!data || !inRows(data.top) || !inRows(data.bottom) || data.left < range.left || data.right > range.right)
  )
    problems.push({ pointer: `${at}/data_range`, message: `${region.data_range} is not inside ${region.range}` });
  if (data && region.header_rows.some((row) => row >= data.top))
    problems.push({ pointer: `${at}/header_rows`, message: 'header rows stand above the data' });
  const names = new Set<string>();
  region.columns.forEach((column, k) => {
    if (!inColumns(column.from))
      problems.push({ pointer: `${at}/columns/${k}/from`, message: `column ${column.from} is outside of ${region.range}` });
    if (!TYPES.has(column.type)) problems.push({ pointer: `${at}/columns/${k}/type`, message: `${column.type} is no type` });
    if (column.name.trim() === '' || names.has(column.name.toLowerCase()))
      problems.push({ pointer: `${at}/columns/${k}/name`, message: 'column names are unique and not empty' });
    names.add(column.name.toLowerCase());
  });
  const known = new Set(region.columns.map((column) => column.from));
  (region.periods ?? []).forEach((period, k) => {
    if (!known.has(period.from))
      problems.push({ pointer: `${at}/periods/${k}/from`, message: `column ${period.from} is not among the columns` });
  });
  return problems;
}

function overlaps(a: Range, b: Range): boolean {
  return a.top <= b.bottom && b.top <= a.bottom && a.left <= b.right && b.left <= a.right;
}
