/** Layouts that people corrected: what to know them by, and how the next sheet of the same layout is read. */

import { formatRange, nameColumn, parseColumn, parseRange } from '../../a1/address.ts';
import type { Grid, Range } from '../../grid/grid.ts';
import { describeTable, expandRegion } from '../describing/describeTable.ts';
import { baseOfFile } from '../names/names.ts';
import { namingOf } from '../names/naming.ts';
import type { FoundTable } from '../regions/regions.ts';
import { dropBlankTexts } from '../sheet/blanks.ts';
import { type Condensed, condense } from '../sheet/condense.ts';
import { readLines } from '../sheet/lines.ts';
import { CellClass, SheetView } from '../sheet/sheet.ts';
import { isTableRegion, type ParseSpec, type SpecColumn, type SpecPeriod, type SpecRegion, type TotalKind } from '../spec/spec.ts';
import { HEADER_GAP_ROWS, MAX_HEADER_ROWS } from '../thresholds.ts';
import { coverRest, findBottom, overlaps } from './coverSheet.ts';

/** One sheet as somebody corrected it. Rows count from the first header row of the first table. */
export interface Layout {
  tables: LayoutTable[];
  forms: { top: number; bottom: number; left: number; right: number; name: string }[];
}

interface LayoutTable {
  kind: SpecRegion['kind'];
  /** What the name was taken from, so that the next one is taken from there, too; `given` by a person otherwise. */
  name: { from: 'file' | 'sheet' | 'title' } | { given: string };
  left: number;
  right: number;
  /** First header row, and where the other rows stand below it. */
  top: number;
  headerRows: number[];
  dataTop: number;
  /** The cells of the header, by row below the first and column: what the layout is known by. */
  header: [row: number, column: number, text: string][];
  /** The columns as corrected; null is as the sheet says. */
  columns: { column: number; name: string | null; type: string | null; format: string | null; found: string }[];
  periods: SpecPeriod[] | null;
  totals: { label: string; kind: TotalKind }[] | null;
  /** Most blank rows inside the data, and how what follows right below begins. */
  gap: number;
  ends: string[];
  selected: boolean;
}

export interface KnownLayout {
  layout: Layout;
  /** When, as ISO time. */
  correctedAt: string;
}

/** The layouts of the sheets of a corrected spec; sheets whose tables have no header cannot be known again. */
export function describeLayouts(grids: Grid[], spec: ParseSpec, fileName: string): Layout[] {
  return grids.flatMap((grid) => {
    const regions = spec.regions.filter(({ sheet }) => sheet === grid.sheet);
    const tables = regions.filter(isTableRegion).sort((a, b) => parseRange(a.range)!.top - parseRange(b.range)!.top);
    if (tables.length === 0 || tables.some((region) => region.header_rows.length === 0 || region.data_range === null)) return [];
    const view = new SheetView(dropBlankTexts(grid).grid);
    const first = tables[0]!.header_rows[0]!;
    const forms = regions
      .filter(({ kind }) => kind === 'form')
      .map((form) => ({ ...moveRows(parseRange(form.range)!, -first), name: form.name }));
    return [{ tables: tables.map((region) => describeLayout(view, region, regions, spec, fileName, first)), forms }];
  });
}

/** What tells a layout from others: its headers, where they stand to each other, and the types below them. */
export function fingerprintOf({ tables }: Layout): string {
  return JSON.stringify(
    tables.map(({ left, right, top, headerRows, header, columns }) => [
      left,
      right,
      top,
      headerRows,
      header,
      columns.map(({ column, found }) => [column, found]),
    ]),
  );
}

function describeLayout(
  view: SheetView,
  region: SpecRegion,
  all: SpecRegion[],
  spec: ParseSpec,
  fileName: string,
  first: number,
): LayoutTable {
  const range = parseRange(region.range)!;
  const data = parseRange(region.data_range!)!;
  const [top] = region.header_rows as [number];
  const found = describeTable(view, { range, headerRows: region.header_rows, firstDataRow: data.top }, region.name, lookAlone(spec));
  const byColumn = new Map(found.columns.map((column) => [column.from, column]));
  const rows = readLines(view, data).map(({ row }) => row);
  return {
    kind: region.kind,
    name: nameSource(view, region, all, fileName),
    left: range.left,
    right: range.right,
    top: top - first,
    headerRows: region.header_rows.map((row) => row - top),
    dataTop: data.top - top,
    header: region.header_rows.flatMap((row) =>
      readHeaderRow(view, range, row).map(([column, text]): [number, number, string] => [row - top, column, text]),
    ),
    columns: region.columns.map((column) => describeColumn(column, byColumn.get(column.from))),
    periods: sameJson(region.periods ?? [], found.periods ?? []) ? null : (region.periods ?? []),
    totals: sameJson(listTotals(region), listTotals(found)) ? null : describeTotals(view, region, range),
    gap: rows.reduce((widest, row, k) => (k === 0 ? widest : Math.max(widest, row - rows[k - 1]! - 1)), 0),
    ends: all.flatMap((other) => {
      const place = parseRange(other.range)!;
      const cell = other === region || place.top <= range.bottom || place.top > range.bottom + 1 ? -1 : view.at(place.top, place.left);
      return cell < 0 ? [] : [fold(view.label(cell))];
    }),
    selected: region.selected,
  };
}

const sameJson = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
const listTotals = ({ totals = [] }: SpecRegion) => totals.map(({ at, kind }) => [at, kind]);

function describeColumn({ name, from, type, format }: SpecColumn, found: SpecColumn | undefined): LayoutTable['columns'][number] {
  const isFound = found?.type === type && (found.format ?? null) === (format ?? null);
  return {
    column: parseColumn(from),
    name: found?.name === name ? null : name,
    type: isFound ? null : type,
    format: isFound ? null : (format ?? null),
    found: classOfType(found?.type ?? 'VARCHAR'),
  };
}

/** Only rows can be known again by their labels; totals over columns come with the periods. */
function describeTotals(view: SheetView, { totals = [] }: SpecRegion, { left, right }: Range): { label: string; kind: TotalKind }[] {
  return totals.flatMap(({ at, kind }) => {
    const label = typeof at === 'number' ? labelOf(view, at, left, right) : '';
    return label === '' ? [] : [{ label, kind }];
  });
}

function labelOf(view: SheetView, row: number, left: number, right: number): string {
  const [line] = readLines(view, { top: row, left, bottom: row, right });
  return line ? fold(view.label(line.from)) : '';
}

function nameSource(view: SheetView, region: SpecRegion, all: SpecRegion[], fileName: string): LayoutTable['name'] {
  if (region.name === baseOfFile(fileName)) return { from: 'file' };
  if (region.name === view.grid.sheet) return { from: 'sheet' };
  const isTitle = (title: SpecRegion) => title.kind === 'title' && textAt(view, title) === region.name;
  return all.some(isTitle) ? { from: 'title' } : { given: region.name };
}

function textAt(view: SheetView, { range }: SpecRegion): string {
  const { top, left } = parseRange(range)!;
  const cell = view.at(top, left);
  return cell < 0 ? '' : view.label(cell);
}

/** The cells of a header row with those right beside it, by column, so that a table with one more column is another layout. */
function readHeaderRow(view: SheetView, range: Range, row: number): [column: number, text: string][] {
  const [line] = readLines(view, { top: row, left: Math.max(1, range.left - 1), bottom: row, right: range.right + 1 });
  if (!line) return [];
  return Array.from({ length: line.to - line.from }, (_, k) => [view.grid.columns[line.from + k]!, foldCell(view, line.from + k)]);
}

function foldCell(view: SheetView, i: number): string {
  const kind = view.classes[i];
  if (kind === CellClass.date || kind === CellClass.period || kind === CellClass.year) return '<period>';
  return kind === CellClass.number ? '<number>' : fold(view.label(i));
}

/** Another month, another number: the same text. */
function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\d+/g, '#');
}

function classOfType(type: string): string {
  if (/^(?:BIGINT|INTEGER|DOUBLE|DECIMAL)/.test(type)) return 'number';
  return /^(?:DATE|TIMESTAMP|TIME)/.test(type) ? 'date' : 'text';
}

const moveRows = (range: Range, by: number): Range => ({ ...range, top: range.top + by, bottom: range.bottom + by });

const lookAlone = (spec: Pick<ParseSpec, 'naming'>) => ({ naming: namingOf(spec), tables: [], rowOf: (row: number) => row });

/** Reads the sheets whose layout somebody corrected as they did; the others stay as they were proposed. */
export function recallLayouts(grids: Grid[], spec: ParseSpec, known: KnownLayout[], fileName: string): ParseSpec {
  if (known.length === 0) return spec;
  const learned: NonNullable<ParseSpec['learned']> = [];
  const regions = grids.flatMap((grid) => {
    const proposed = spec.regions.filter(({ sheet }) => sheet === grid.sheet);
    if (grid.size === 0) return proposed;
    const head = new SheetView(takeHead(grid));
    const likely = known.filter(({ layout }) => findPlaces(head, layout.tables.slice(0, 1)) !== null);
    if (likely.length === 0) return proposed;
    const whole = dropBlankTexts(grid).grid;
    const short = condense(whole);
    const view = new SheetView(short?.grid ?? whole);
    for (const { layout, correctedAt } of likely) {
      const found = recallSheet(view, layout, short ? [] : proposed, spec, fileName);
      if (!found) continue;
      if (short) for (const region of found) expandCorrected(region, short, whole);
      learned.push({ sheet: grid.sheet, correctedAt });
      return found;
    }
    return proposed;
  });
  if (learned.length === 0) return spec;
  return { ...spec, regions: regions.map((region, k) => ({ ...region, id: `r${k + 1}` })), learned };
}

/** What was corrected in the short form of a long list holds for all of it, its types too. */
function expandCorrected(region: SpecRegion, short: Condensed, whole: Grid): void {
  const before = region.columns.map((column) => ({ ...column }));
  expandRegion(region, short, whole);
  for (const [k, column] of region.columns.entries()) if (isGiven.has(column)) region.columns[k] = before[k]!;
}

/** Columns whose type somebody gave. */
const isGiven = new WeakSet<SpecColumn>();

/** Rows below the top among which the header of the first table is looked for. */
const SEARCHED_ROWS = 100;

/** The rows among which the first header is, so that most layouts are ruled out without looking at a whole sheet. */
function takeHead(grid: Grid): Grid {
  // The rows of a header may reach below the first of them.
  const last = grid.rows[0]! + SEARCHED_ROWS + MAX_HEADER_ROWS * (HEADER_GAP_ROWS + 1);
  let size = 0;
  while (size < grid.size && grid.rows[size]! <= last) size += 1;
  return dropBlankTexts({
    ...grid,
    size,
    rows: grid.rows.subarray(0, size),
    columns: grid.columns.subarray(0, size),
    kinds: grid.kinds.subarray(0, size),
    numbers: grid.numbers.subarray(0, size),
    texts: grid.texts.subarray(0, size),
    formulaIds: grid.formulaIds.subarray(0, size),
    styleIds: grid.styleIds.subarray(0, size),
  }).grid;
}

function recallSheet(view: SheetView, layout: Layout, proposed: SpecRegion[], spec: ParseSpec, fileName: string): SpecRegion[] | null {
  const places = findPlaces(view, layout.tables);
  if (!places) return null;
  const tables: SpecRegion[] = [];
  for (const [k, table] of layout.tables.entries()) {
    const place = places[k]!;
    const below = places.filter((other) => other > place);
    const limit = below.length === 0 ? (view.used?.bottom ?? place) : Math.min(...below) - 1;
    const dataTop = place + table.dataTop;
    const bottom = findBottom(view, { top: dataTop, bottom: limit, left: table.left, right: table.right }, table.gap, (cell) =>
      table.ends.includes(fold(view.label(cell))),
    );
    if (bottom < dataTop) return null;
    const range = { top: place, left: table.left, bottom, right: table.right };
    const found = { range, headerRows: table.headerRows.map((row) => place + row), firstDataRow: dataTop };
    const region = correctTable(view, table, found, describeTable(view, found, '', lookAlone(spec)));
    if (!region) return null;
    tables.push(region);
  }
  const forms = layout.forms.map((form): SpecRegion => ({ ...tables[0]!, ...asText('form', moveRows(form, places[0]!), form.name) }));
  const fitting = forms.filter(({ range }) => readLines(view, parseRange(range)!).length > 0);
  const regions = coverRest(view, [...tables, ...fitting], proposed);
  tables.forEach((region, k) => {
    region.name = nameTable(view, layout.tables[k]!, region, regions, proposed, fileName);
  });
  return regions;
}

function asText(kind: SpecRegion['kind'], range: Range, name: string): Partial<SpecRegion> {
  return {
    kind,
    range: formatRange(range),
    name,
    header_rows: [],
    data_range: null,
    columns: [],
    periods: undefined,
    totals: undefined,
    selected: false,
  };
}

/** The first header row of each table: all must be there, in their order. */
function findPlaces(view: SheetView, tables: LayoutTable[]): number[] | null {
  const places: number[] = [];
  let from = view.used?.top ?? 1;
  for (const table of tables) {
    // Tables side by side begin on the same row.
    const isBeside = places.length > 0 && table.top === tables[places.length - 1]!.top;
    if (isBeside) from = places.at(-1)!;
    const place = findHeaderRows(view, table, from, places.length === 0 ? from + SEARCHED_ROWS : view.used!.bottom);
    if (place === null) return null;
    places.push(place);
    from = place + table.headerRows.at(-1)! + 1;
  }
  return places;
}

function findHeaderRows(view: SheetView, table: LayoutTable, from: number, to: number): number | null {
  const wanted = table.headerRows.map((offset) =>
    JSON.stringify(table.header.filter(([row]) => row === offset).map(([, column, text]) => [column, text])),
  );
  for (let index = view.rowIndex(from); index < view.rows.length && view.rows[index]! <= to; index += 1) {
    const row = view.rows[index]!;
    if (table.headerRows.every((offset, k) => JSON.stringify(readHeaderRow(view, { ...table, bottom: 0 }, row + offset)) === wanted[k]))
      return row;
  }
  return null;
}

/** What was found at the place of a known table, with the corrections on top; null where its columns hold something else now. */
function correctTable(view: SheetView, table: LayoutTable, { range }: FoundTable, found: SpecRegion): SpecRegion | null {
  const byColumn = new Map(found.columns.map((column) => [parseColumn(column.from), column]));
  let differing = 0;
  const columns = table.columns.map(({ column, name, type, format, found: before }): SpecColumn => {
    const own = byColumn.get(column) ?? { name: nameColumn(column), from: nameColumn(column), type: 'VARCHAR' };
    const { format: ownFormat, ...plain } = own;
    if (byColumn.has(column) && classOfType(own.type) !== before) differing += 1;
    const written = type === null ? ownFormat : format;
    const corrected = { ...plain, name: name ?? own.name, type: type ?? own.type, ...(written ? { format: written } : {}) };
    if (type !== null) isGiven.add(corrected);
    return corrected;
  });
  if (differing * 3 > columns.length) return null;
  const labels = new Map(table.totals?.map(({ label, kind }) => [label, kind]));
  const totals =
    table.totals === null
      ? found.totals
      : readLines(view, { ...range, top: parseRange(found.data_range!)!.top }).flatMap(({ row }) => {
          const kind = labels.get(labelOf(view, row, range.left, range.right));
          return kind ? [{ at: row, kind, formula: null }] : [];
        });
  const { totals: _, periods: __, decisions: ___, confidence: ____, ...rest } = found;
  const periods = table.periods ?? found.periods;
  return {
    ...rest,
    kind: table.kind,
    columns,
    ...(periods && periods.length > 0 ? { periods } : {}),
    ...(totals && totals.length > 0 ? { totals } : {}),
    selected: table.selected,
  };
}

function nameTable(
  view: SheetView,
  { name }: LayoutTable,
  region: SpecRegion,
  all: SpecRegion[],
  proposed: SpecRegion[],
  fileName: string,
): string {
  if ('given' in name) return name.given;
  if (name.from === 'file') return baseOfFile(fileName);
  if (name.from === 'sheet') return view.grid.sheet;
  const { top } = parseRange(region.range)!;
  const above = all.filter(({ kind, range }) => kind === 'title' && parseRange(range)!.top < top);
  const title = above.at(-1);
  const twin = proposed.find((other) => isTableRegion(other) && overlaps(parseRange(other.range)!, parseRange(region.range)!));
  return (title && textAt(view, title)) || twin?.name || view.grid.sheet;
}
