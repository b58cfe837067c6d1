/**
 * Every workbook of the measuring sets, cell by cell against exceljs: values, types, formulas, merges. Where the two
 * differ, the difference must be one of those explained here; anything else fails.
 *
 * exceljs takes a minute for all of them, and always says the same. So a workbook is only compared if what we read of it
 * is not among the readings that were compared before: sameAsExceljs.json has their digests. After a change that makes us
 * read something else, the test compares, and says how to write the list anew.
 */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ExcelJS from 'exceljs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nameColumn } from '../../core/a1/address.ts';
import { CellKind, type Grid } from '../../core/grid/grid.ts';
import { readWorkbook } from '../../store/xlsx/index.ts';
import { formulaOf } from '../xlsx/makeWorkbook.ts';

const ROOT = join(import.meta.dirname, '../../../shared/structuring');
/** exceljs needs about a second for a megabyte: larger files are only read, not compared. Today there is none. */
const LARGEST = 4 * 1024 * 1024;

const EXPLAINED = {
  earlyDate: 'exceljs counts days before March 1900 from 1899-12-30, one day early; we follow Excel, whose day 1 is 1900-01-01',
  longLength: 'exceljs takes lengths of sixty days and more for days after 29 February 1900, which never was; to us a length has no days',
  droppedZero: 'exceljs drops a formula result of 0 or FALSE; we keep it',
  emptyResult: 'exceljs gives no result for a formula whose cached text is empty; we give the empty text',
  arrayMember: 'exceljs shows an array formula in its first cell only; we in every cell it fills',
  emptyText: 'exceljs keeps a text cell without text; to us it is blank',
  weekday: 'exceljs does not know the weekday formats aaa and aaaa, and gives the number of the day; we give the date',
  crash: 'exceljs cannot open the file',
} as const;
type Reason = keyof typeof EXPLAINED;

/** Files that exceljs cannot open, and why. */
const CRASHES: Record<string, string> = {
  'unlabelled/japanese/aidemy_3.3_支店別売上報告書.xlsx': 'exceljs cannot read its Excel table, which has no filter',
  'analyst/books/en45_cost.xlsx': 'exceljs does not find its workbook part, whose elements have a prefix',
};

function listWorkbooks(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? listWorkbooks(join(folder, entry.name)) : [join(folder, entry.name)]))
    .filter((path) => path.endsWith('.xlsx'))
    .sort();
}

const present = existsSync(ROOT);
if (!present)
  console.warn(`\n!!! SKIPPED: ${relative(process.cwd(), ROOT)} is not there; nothing is compared with exceljs over real workbooks.\n`);

interface Plain {
  kind: CellKind | 'none';
  value: string | number | boolean | undefined;
  formula: string | undefined;
}

/** What exceljs says about a cell, in our terms. */
function readTheirs(cell: ExcelJS.Cell): Plain {
  let value: unknown = cell.value;
  let formula: string | undefined;
  if (isObject(value) && 'hyperlink' in value) value = value.text;
  if (isObject(value) && ('formula' in value || 'sharedFormula' in value)) {
    formula = cell.formula;
    value = value.result;
  }
  if (isObject(value) && 'richText' in value) value = (value.richText as { text: string }[]).map(({ text }) => text).join('');
  if (value instanceof Date) return { kind: CellKind.date, value: value.getTime(), formula };
  if (isObject(value) && 'error' in value) return { kind: CellKind.error, value: String(value.error), formula };
  if (typeof value === 'string') return { kind: CellKind.text, value, formula };
  if (typeof value === 'number') return { kind: CellKind.number, value, formula };
  if (typeof value === 'boolean') return { kind: CellKind.boolean, value, formula };
  return { kind: 'none', value: undefined, formula };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof Date);
}

function readOurs(grid: Grid, i: number): Plain {
  const kind = grid.kinds[i] as CellKind;
  const text = grid.strings[grid.texts[i] ?? -1];
  const number = grid.numbers[i];
  return { kind, value: text ?? (kind === CellKind.boolean ? number === 1 : number), formula: formulaOf(grid, i) };
}

const MARCH_1900 = Date.UTC(1900, 2, 1);
const DAY_MS = 86_400_000;

/** Why values differ; null when there is no good reason. */
function explainValue(ours: Plain, theirs: Plain, format: string): Reason | null {
  if (ours.kind === CellKind.date && theirs.kind === CellKind.number && /^a{3,4}$/.test(format)) return 'weekday';
  if (ours.kind === CellKind.date && theirs.kind === CellKind.date) {
    const [mine, other] = [Number(ours.value), Number(theirs.value)];
    if (mine < MARCH_1900 && mine - other === DAY_MS) return 'earlyDate';
    if (/\[[hms]+\]/i.test(format) && mine - other === DAY_MS) return 'longLength';
  }
  if (theirs.kind === 'none' && ours.formula !== undefined) {
    if (ours.value === 0 || ours.value === false) return 'droppedZero';
    if (ours.value === '') return 'emptyResult';
  }
  return null;
}

const LIST = join(import.meta.dirname, 'sameAsExceljs.json');
const known = new Set(JSON.parse(readFileSync(LIST, 'utf8')) as string[]);
/** Compares all of them with exceljs again, and writes the list. */
const rewrites = process.env.REWRITE_PARITY === 'on';

/** Tells a workbook, and all of our reading that is compared with exceljs, from every other. */
function digestReading(path: string, sheets: Grid[]): string {
  const hash = createHash('sha256').update(readFileSync(path));
  for (const grid of sheets) {
    hash.update(JSON.stringify([grid.sheet, grid.merges, grid.arrays ?? []]));
    for (let i = 0; i < grid.size; i += 1) {
      const { kind, value, formula } = readOurs(grid, i);
      hash.update(`${grid.rows[i]} ${grid.columns[i]} ${kind} ${JSON.stringify(value)} ${formula}\n`);
    }
  }
  return hash.digest('hex').slice(0, 16);
}

const counts = new Map<Reason, number>();
const unexplained: string[] = [];
let cells = 0;

function note(reason: Reason | null, where: string, ours: unknown, theirs: unknown): void {
  if (reason) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  else unexplained.push(`${where}: ours ${JSON.stringify(ours)}, exceljs ${JSON.stringify(theirs)}`);
}

function compareSheet(where: string, grid: Grid, sheet: ExcelJS.Worksheet): void {
  const left = new Map<string, number>();
  for (let i = 0; i < grid.size; i += 1) left.set(`${nameColumn(grid.columns[i] ?? 0)}${grid.rows[i]}`, i);
  const inArray = (i: number): boolean => (grid.arrays ?? []).some(({ range: r }) => within(grid, i, r));
  sheet.eachRow((row) => {
    row.eachCell((cell) => {
      if (cell.type === ExcelJS.ValueType.Merge) return;
      const at = `${where}!${cell.address}`;
      const theirs = readTheirs(cell);
      const i = left.get(cell.address);
      left.delete(cell.address);
      if (i === undefined) {
        note(theirs.value === '' && theirs.formula === undefined ? 'emptyText' : null, at, 'blank', theirs);
        return;
      }
      const ours = readOurs(grid, i);
      if (ours.kind !== theirs.kind || ours.value !== theirs.value) note(explainValue(ours, theirs, cell.numFmt ?? ''), at, ours, theirs);
      if (ours.formula !== theirs.formula)
        note(theirs.formula === undefined && inArray(i) ? 'arrayMember' : null, at, ours.formula, theirs.formula);
    });
  });
  for (const [address, i] of left) note(null, `${where}!${address}`, readOurs(grid, i), 'nothing');
  const merges = grid.merges.map((r) => `${nameColumn(r.left)}${r.top}:${nameColumn(r.right)}${r.bottom}`).sort();
  expect(merges, `merges of ${where}`).toEqual([...(sheet.model.merges as unknown as string[])].sort());
}

function within(grid: Grid, i: number, { top, left, bottom, right }: Grid['merges'][number]): boolean {
  const [row, column] = [grid.rows[i] ?? 0, grid.columns[i] ?? 0];
  return row >= top && row <= bottom && column >= left && column <= right;
}

describe.skipIf(!present)('readWorkbook beside exceljs: the workbooks of ../shared/structuring', () => {
  const paths = present ? listWorkbooks(ROOT) : [];
  const small = paths.filter((path) => statSync(path).size <= LARGEST);
  const compared: string[] = [];
  let readMs = 0;

  beforeAll(() => {
    const large = paths.filter((path) => !small.includes(path)).map((path) => relative(ROOT, path));
    console.log(`${paths.length} workbooks; read but not compared, being larger than ${LARGEST} bytes: ${large.join(', ') || 'none'}`);
  });

  it('are the same to exceljs, but for what is explained', { timeout: 300_000 }, async () => {
    for (const path of small) {
      const name = relative(ROOT, path);
      const started = performance.now();
      const ours = await readWorkbook(path);
      readMs += performance.now() - started;
      const digest = digestReading(path, ours.sheets);
      cells += ours.sheets.reduce((sum, grid) => sum + grid.size, 0);
      if (known.has(digest) && !rewrites) continue;
      compared.push(digest);
      const theirs = new ExcelJS.Workbook();
      try {
        await theirs.xlsx.readFile(path);
      } catch (error) {
        note(name in CRASHES ? 'crash' : null, name, 'opened', String(error));
        continue;
      }
      expect(
        ours.sheets.map(({ sheet }) => sheet),
        name,
      ).toEqual(theirs.worksheets.map((sheet) => sheet.name));
      ours.sheets.forEach((grid) => {
        const sheet = theirs.getWorksheet(grid.sheet);
        if (sheet) compareSheet(`${name} ${grid.sheet}`, grid, sheet);
      });
    }
    expect(unexplained).toEqual([]);
    if (rewrites) writeFileSync(LIST, `${JSON.stringify(compared.sort(), null, 2)}\n`);
    else if (compared.length > 0)
      console.warn(
        `${compared.length} workbooks were compared anew; write the list: REWRITE_PARITY=on npm test -- ${relative(process.cwd(), import.meta.filename)}`,
      );
    expect(cells).toBeGreaterThan(1_000_000);
  });

  it('the larger ones are read as well', async () => {
    for (const path of paths.filter((candidate) => !small.includes(candidate))) {
      const started = performance.now();
      const { sheets } = await readWorkbook(path);
      readMs += performance.now() - started;
      expect(sheets.reduce((sum, grid) => sum + grid.size, 0)).toBeGreaterThan(1000);
    }
  });

  afterAll(() => {
    const lines = [...counts].map(([reason, count]) => `  ${count} × ${EXPLAINED[reason]}`);
    console.log(
      [`${cells} cells read in ${(readMs / 1000).toFixed(1)} s. Differences of those that were compared, all explained:`, ...lines].join(
        '\n',
      ),
    );
  });
});
