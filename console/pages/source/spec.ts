import type { components } from '../../../schema/contract.ts';
import { formatValue } from '../../grid/format.ts';
import { contains, formatRange, fromLetters, parseRange, type Range, toLetters } from './a1.ts';

/** Corrections of what was understood, as changes of the parse spec. */

export type Region = components['schemas']['ParseRegion'];

/** Less than this is marked: one in five such readings is wrong. */
const sureEnough = 0.8;
export const isUnsure = ({ confidence }: Region): boolean => typeof confidence === 'number' && confidence < sureEnough;

/** The cells of a sheet that are here; rows and columns count from 1. */
export interface Sheet {
  range: Range;
  values: unknown[][];
}

export function cellOf({ range, values }: Sheet, column: number, row: number): unknown {
  return values[row - range.top]?.[column - range.left];
}

export const makesTable = ({ kind }: Region): boolean => kind === 'data' || kind === 'report';

/** The region as something else: only tables have a header, columns and values. */
export function withKind(region: Region, kind: Region['kind'], sheet: Sheet): Region {
  const next = { ...region, kind };
  if (!makesTable(next))
    return {
      ...next,
      name: null,
      target: region.name ?? region.target,
      header_rows: [],
      data_range: null,
      columns: [],
      periods: [],
      totals: [],
    };
  if (makesTable(region)) return next;
  const top = parseRange(region.range)?.top ?? 1;
  const name = region.target ?? `${region.sheet}_${region.range.replace(':', '_')}`;
  return withHeaders({ ...next, name, target: null, data_range: region.range }, [top], sheet);
}

const isNumber = (type: string) => /^(BIGINT|DOUBLE|DECIMAL|INTEGER|HUGEINT|FLOAT)/i.test(type);

/** Long form, or the columns as they stand. Without periods that were proposed, all columns of numbers become rows. */
export function withLongForm(region: Region, isLong: boolean, proposed: Region['periods'] = []): Region {
  const known = proposed.filter(({ from }) => region.columns.some((column) => column.from === from));
  const numbers = region.columns.filter(({ type }) => isNumber(type)).map(({ from, name }) => ({ from, label: name }));
  return { ...region, periods: isLong ? (known.length > 0 ? known : numbers) : [] };
}

/** One more or one less of the columns that become rows, in the order of the sheet. */
export function withPeriod(region: Region, from: string, isPeriod: boolean, proposed: Region['periods'] = []): Region {
  const others = (region.periods ?? []).filter((period) => period.from !== from);
  const label = region.columns.find((column) => column.from === from)?.name ?? from;
  const own = proposed.find((period) => period.from === from) ?? { from, label };
  const periods = isPeriod ? [...others, own].sort((a, b) => fromLetters(a.from) - fromLetters(b.from)) : others;
  return { ...region, periods };
}

/** The region over other cells: its columns, values and totals follow. */
export function withRange(region: Region, range: Range, sheet: Sheet): Region {
  const headers = region.header_rows.filter((row) => row >= range.top && row <= range.bottom);
  return withHeaders({ ...region, range: formatRange(range) }, headers, sheet);
}

/** The region with other header rows: names of columns are read from them anew. */
export function withHeaders(region: Region, headers: number[], sheet: Sheet): Region {
  const range = parseRange(region.range);
  if (!range) return region;
  const rows = [...new Set(headers)].sort((a, b) => a - b);
  const first = Math.min((rows.at(-1) ?? range.top - 1) + 1, range.bottom);
  const isInside = (from: string) => fromLetters(from) >= range.left && fromLetters(from) <= range.right;
  const sameHeaders = JSON.stringify(rows) === JSON.stringify(region.header_rows);
  const periods = (region.periods ?? []).filter(({ from }) => isInside(from));
  const columns: Region['columns'] = [];
  for (let column = range.left; column <= range.right; column++) {
    const from = toLetters(column);
    const known = region.columns.find((each) => each.from === from);
    const name = readName(sheet, column, rows);
    if (known && sameHeaders) columns.push(known);
    else if (known || name !== null || hasValue(sheet, column, first, range.bottom))
      columns.push({ ...(known ?? { type: 'VARCHAR' }), from, name: name ?? known?.name ?? from });
  }
  return {
    ...region,
    header_rows: rows,
    data_range: region.data_range === null ? null : formatRange({ ...range, top: first }),
    columns: makeUnique(columns),
    periods,
    totals: (region.totals ?? []).filter((total) => {
      const at = parseRange(total.range);
      return at !== null && contains(range, at.left, at.top) && contains(range, at.right, at.bottom);
    }),
  };
}

/** A column between others may be there to keep them apart. */
function hasValue(sheet: Sheet, column: number, top: number, bottom: number): boolean {
  for (let row = top; row <= bottom; row += 1) if (formatValue(cellOf(sheet, column, row)) !== '') return true;
  return false;
}

/** Header rows one below the other give `parent_child`. */
function readName(sheet: Sheet, column: number, headers: number[]): string | null {
  const parts = headers.map((row) => formatValue(cellOf(sheet, column, row)).trim()).filter(Boolean);
  return parts.length > 0 ? [...new Set(parts)].join('_').slice(0, 200) : null;
}

function makeUnique(columns: Region['columns']): Region['columns'] {
  const seen = new Map<string, number>();
  return columns.map((column) => {
    const count = (seen.get(column.name) ?? 0) + 1;
    seen.set(column.name, count);
    return count === 1 ? column : { ...column, name: `${column.name}_${count}` };
  });
}

/** The first rows of the table that the region would make, from the cells that are here. Computed rows and columns become a table of their own. */
export function previewRows(region: Region, sheet: Sheet, count: number): { names: string[]; rows: string[][] } {
  const data = region.data_range ? parseRange(region.data_range) : null;
  const totals = (region.totals ?? []).flatMap((total) => parseRange(total.range) ?? []);
  const all = parseRange(region.range);
  const isComputedColumn = (from: string) =>
    all !== null && all.left !== all.right && totals.some(({ left, right }) => left === right && left === fromLetters(from));
  const isComputedRow = (row: number) => totals.some(({ left, right, top, bottom }) => left !== right && row >= top && row <= bottom);
  const periods = (region.periods ?? []).filter(({ from }) => !isComputedColumn(from));
  // A column that stands for a period is in the rows.
  const columns = region.columns.filter(({ from }) => !(region.periods ?? []).some((period) => period.from === from));
  const names = columns.map(({ name }) => name);
  const rows: string[][] = [];
  for (let row = data?.top ?? 1; data && row <= data.bottom && rows.length < count; row++) {
    if (isComputedRow(row)) continue;
    const fixed = columns.map(({ from }) => formatValue(cellOf(sheet, fromLetters(from), row)));
    if (periods.length === 0) rows.push(fixed);
    else for (const { from, label } of periods) rows.push([...fixed, label, formatValue(cellOf(sheet, fromLetters(from), row))]);
  }
  const isJapanese = /[\u3040-\u30ff\u4e00-\u9fff]/.test([...names, ...periods.map(({ label }) => label)].join());
  const added = isJapanese ? ['期間', '値'] : ['period', 'value'];
  return { names: periods.length === 0 ? names : [...names, ...added], rows: rows.slice(0, count) };
}
