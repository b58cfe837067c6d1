/**
 * npm run structure -- [--json|--tables|--svg FOLDER] FILE…
 *
 * Without a flag a report for people: tables, conservation, findings. `--svg` writes a picture of each sheet into the folder
 * beside it. `--json` prints one line per sheet for the
 * scorer, `--tables` one line per file with the tables that come out.
 */

import { mkdir, writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { drawCells } from '../activities/ingest/fileProgram/drawPreview.ts';
import { readPreview } from '../activities/ingest/fileProgram/readPreview.ts';
import { checkFormulas, computeFormulas } from '../core/formula/computeFormulas.ts';
import type { Grid, Range } from '../core/grid/grid.ts';
import { analyze, type BuildResult, build, describeSheets, listRows, type ParseSpec, rowAt } from '../core/structuring/index.ts';
import { readCsv } from '../store/csv/index.ts';
import { readWorkbook } from '../store/xlsx/index.ts';

type Mode = 'json' | 'tables' | 'people';

/** Rows shown of each table in the report for people. */
const SAMPLE_ROWS = 3;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { json: { type: 'boolean' }, tables: { type: 'boolean' }, svg: { type: 'string' } },
    allowPositionals: true,
  });
  if (positionals.length === 0 || (values.json && values.tables)) {
    process.stderr.write('usage: npm run structure -- [--json|--tables|--svg FOLDER] FILE…\n');
    return 2;
  }
  const mode: Mode = values.json ? 'json' : values.tables ? 'tables' : 'people';
  let failed = 0;
  for (const file of positionals) {
    try {
      const grids = await readGrids(file);
      const wrong = await structureFile(file, grids, mode, values.svg ?? null);
      if (wrong) failed += 1;
    } catch (error) {
      // One bad file must not keep the others from being read.
      failed += 1;
      process.stderr.write(`${file}: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
  return failed > 0 ? 1 : 0;
}

async function readGrids(file: string): Promise<Grid[]> {
  const extension = extname(file).toLowerCase();
  if (extension === '.csv' || extension === '.tsv' || extension === '.txt') return [(await readCsv(file)).grid];
  return checkFormulas(computeFormulas((await readWorkbook(file)).sheets));
}

/** True when cells were lost or used twice. */
async function structureFile(file: string, grids: Grid[], mode: Mode, folder: string | null): Promise<boolean> {
  const spec = analyze(grids, file);
  if (mode === 'json') {
    const names = grids.map((grid) => grid.sheet);
    await print(
      describeSheets(file, names, spec)
        .map((line) => JSON.stringify(line))
        .join('\n'),
    );
    return false;
  }
  const result = build(grids, spec, file);
  if (mode === 'tables') await print(JSON.stringify(describeTables(result)));
  else await print(describeForPeople(file, spec, result));
  if (folder !== null) await drawSheets(file, grids, spec, folder);
  return result.conservation.some((sheet) => sheet.lost.length + sheet.twice.length > 0);
}

/** Nobody looks at more of a sheet at once. */
const DRAWN: Range = { top: 1, left: 1, bottom: 200, right: 50 };

/** The first rows of each sheet with what was found there. */
async function drawSheets(file: string, grids: Grid[], spec: ParseSpec, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const format = extname(file).toLowerCase() === '.xlsx' || extname(file).toLowerCase() === '.xlsm' ? 'xlsx' : 'csv';
  for (const [k, { sheet }] of grids.entries()) {
    const preview = await readPreview({ path: file, format, filename: basename(file) }, format === 'xlsx' ? sheet : null, DRAWN);
    const path = join(folder, `${basename(file, extname(file))}_${k + 1}.svg`);
    await writeFile(path, drawCells({ ...preview, sheet }, DRAWN, spec.regions));
  }
}

/** Sheets that stay raw are not among the tables: what they hold was not understood. */
function describeTables(result: BuildResult): object {
  const made = result.tables.filter(({ role }) => role !== 'raw');
  return {
    tables: made.map((table) => ({ name: table.name, columns: table.columns, row_count: table.rowCount, rows: listRows(table) })),
    archived_raw: result.archivedRaw,
    findings: result.findings,
    raw_sheets: result.rawSheets,
  };
}

function describeForPeople(file: string, spec: ParseSpec, result: BuildResult): string {
  const lines = [`${file}: ${spec.regions.length} regions, ${result.tables.length} tables`];
  for (const sheet of result.conservation) {
    const { cells, headers, values, labels, titles, notes, lost, twice } = sheet;
    lines.push(
      `  sheet ${sheet.sheet}: ${cells} cells = ${headers} header + ${values} value + ${labels} label + ${titles} title + ${notes} note`,
    );
    if (lost.length > 0) lines.push(`    ERROR lost: ${lost.join(' ')}`);
    if (twice.length > 0) lines.push(`    ERROR used twice: ${twice.join(' ')}`);
  }
  for (const { sheet, reason } of result.rawSheets) lines.push(`  sheet ${sheet} stays raw: ${reason}`);
  for (const table of result.tables) {
    lines.push(`  ${table.name}: ${table.rowCount} rows`);
    lines.push(`    ${table.columns.map((column) => `${column.name} ${column.type}`).join(', ')}`);
    for (let n = 0; n < Math.min(SAMPLE_ROWS, table.rowCount); n += 1)
      lines.push(
        `    ${rowAt(table, n)
          .map((value) => (value === null ? '∅' : String(value)))
          .join(' | ')}`,
      );
    if (table.rowCount > SAMPLE_ROWS) lines.push('    …');
  }
  for (const region of spec.regions) {
    if (region.confidence === undefined) continue;
    lines.push(`  ${region.sheet} ${region.range} (${region.kind}): confidence ${region.confidence}`);
    for (const { about, confidence, reason, otherwise } of region.decisions ?? [])
      lines.push(`    ${about} ${confidence}: ${reason}${otherwise === undefined ? '' : `; else: ${otherwise}`}`);
  }
  for (const finding of result.findings) lines.push(`  finding ${finding.sheet} ${finding.cell} ${finding.message}`);
  return lines.join('\n');
}

/** Waits for a slow reader at the other end of the pipe, so that long output is not held in memory. */
function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(`${text}\n`, (error) => (error ? reject(error) : resolve()));
  });
}

process.exitCode = await main();
