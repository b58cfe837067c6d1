/** Analysis: proposes the regions of every sheet as a ParseSpec. */

import type { Grid } from '../grid/grid.ts';
import { describeTable, expandRegion, makeRegion, type SheetContext } from './describing/describeTable.ts';
import { weighForm } from './findings/confidence.ts';
import { baseOfFile, NameRegistry } from './names/names.ts';
import { type NamingLanguage, namingOf } from './names/naming.ts';
import { isNoteStart, isPlainTitle, isUnitLine } from './names/words.ts';
import { type FoundBlock, type FoundText, findBlocks } from './regions/regions.ts';
import { dropBlankTexts } from './sheet/blanks.ts';
import { condense } from './sheet/condense.ts';
import { SheetView } from './sheet/sheet.ts';
import { openSumBudget } from './sheet/sumBudget.ts';
import { type FileFormat, type ParseSpec, SPEC_VERSION, type SpecRegion } from './spec/spec.ts';

/** The names that are made up are in `language`. */
export function analyze(grids: Grid[], fileName: string, language: NamingLanguage = 'ja'): ParseSpec {
  const naming = namingOf({ naming: language });
  const format = formatOfFile(fileName);
  const sums = openSumBudget();
  const sheets = grids.map((grid) => {
    const whole = dropBlankTexts(grid).grid;
    const short = condense(whole);
    const view = new SheetView(short?.grid ?? whole, sums);
    const header = format === 'xlsx' ? null : findLoneHeader(view);
    return { view, whole, short, blocks: header ? [header] : findBlocks(view) };
  });
  const names = nameTables(sheets, fileName);
  const regions: SpecRegion[] = [];
  for (const { view, whole, short, blocks } of sheets) {
    const before = regions.length;
    const context = { naming, tables: blocks.flatMap(({ table }) => table ?? []), rowOf: short?.originalRow ?? ((row: number) => row) };
    for (const [k, block] of blocks.entries())
      regions.push(...describeBlock(view, block, names.get(block) ?? '', names.get(nextTable(blocks, k)) ?? '', context));
    if (short) for (const region of regions.slice(before)) expandRegion(region, short, whole);
    const own = regions.splice(before).sort((a, b) => compareRanges(a, b));
    own.forEach((region, n) => {
      // Ids do not contain sheet names, which can be long.
      region.id = `r${before + n + 1}`;
      regions.push(region);
    });
  }
  return { version: SPEC_VERSION, reader: { format }, ...(language === 'ja' ? {} : { naming: language }), regions };
}

/** Delimited text goes by csv or tsv; every workbook is read alike, macros or not. */
function formatOfFile(fileName: string): FileFormat {
  const extension = /\.([A-Za-z0-9]{1,5})$/.exec(fileName)?.[1]?.toLowerCase();
  if (extension === 'tsv') return 'tsv';
  return extension === 'csv' || extension === 'txt' ? 'csv' : 'xlsx';
}

/** Regions are listed as people read: from the top, then from the left. */
function compareRanges(a: SpecRegion, b: SpecRegion): number {
  const place = (region: SpecRegion) => /^([A-Z]+)(\d+)/.exec(region.range)!;
  const [pa, pb] = [place(a), place(b)];
  return Number(pa[2]) - Number(pb[2]) || pa[1]!.length - pb[1]!.length || (pa[1]! < pb[1]! ? -1 : pa[1]! > pb[1]! ? 1 : 0);
}

/** The one line of a text file is its header if it holds words only: an empty table, as exports without records are. */
function findLoneHeader(view: SheetView): FoundBlock | null {
  const { used } = view;
  if (!used || view.rows.length !== 1) return null;
  for (let i = 0; i < view.grid.size; i += 1) if (!view.isText(i)) return null;
  const table = { range: used, headerRows: [used.top], firstDataRow: used.top + 1 };
  return { range: used, table, form: [], above: [], below: [], separated: false };
}

/** A block that holds only texts belongs to the table below it. */
function nextTable(blocks: FoundBlock[], k: number): FoundBlock {
  const own = blocks[k]!;
  if (own.table) return own;
  return (
    blocks.find(
      (block) =>
        block.table && block.range.top > own.range.bottom && block.range.left <= own.range.right && own.range.left <= block.range.right,
    ) ?? own
  );
}

function nameTables(sheets: { view: SheetView; blocks: FoundBlock[] }[], fileName: string): Map<FoundBlock, string> {
  const file = baseOfFile(fileName);
  const bare = sheets.filter(({ blocks }) => isBare(blocks));
  const registry = new NameRegistry();
  const names = new Map<FoundBlock, string>();
  for (const { view, blocks } of sheets) {
    for (const block of blocks) {
      if (!block.table) continue;
      const wanted = isBare(blocks) ? (bare.length === 1 ? file : `${file}_${view.grid.sheet}`) : (titleOf(view, block) ?? view.grid.sheet);
      names.set(block, registry.claim(wanted, view.grid.sheet));
    }
  }
  return names;
}

/** One table with nothing around it. */
function isBare(blocks: FoundBlock[]): boolean {
  return (
    blocks.length === 1 && blocks[0]!.table !== null && blocks[0]!.above.length + blocks[0]!.below.length + blocks[0]!.form.length === 0
  );
}

/** The nearest line above the table that reads as a title; units, dates and remarks do not name anything. */
function titleOf(view: SheetView, block: FoundBlock): string | null {
  if (block.separated) return null;
  for (let k = block.above.length - 1; k >= 0; k -= 1) {
    const text = view.label(block.above[k]!.from);
    if (view.isText(block.above[k]!.from) && !isUnitLine(text) && !isNoteStart(text) && isPlainTitle(text)) return text;
  }
  return null;
}

function describeBlock(view: SheetView, block: FoundBlock, name: string, target: string, context: SheetContext): SpecRegion[] {
  const regions: SpecRegion[] = [];
  for (const text of block.above) regions.push(describeText(view, text, true, target));
  for (const form of block.form) {
    const region = makeRegion(view, 'form', form.range, target);
    weighForm(view, region, form.range);
    regions.push(region);
  }
  if (block.table) regions.push(describeTable(view, block.table, name, context));
  for (const text of block.below) regions.push(describeText(view, text, false, name));
  return regions;
}

function describeText(view: SheetView, text: FoundText, above: boolean, target: string): SpecRegion {
  const shown = view.label(text.from);
  const isNote = !above || isUnitLine(shown) || isNoteStart(shown);
  return makeRegion(view, isNote ? 'note' : 'title', text.range, target);
}
