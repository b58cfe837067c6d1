/** The figures of ../shared/structuring, where it is there. Nothing of it is kept in this repository. */

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { analyze, build, describeSheets, listRows } from '../../core/structuring/index.ts';
import { readWorkbook } from '../../store/xlsx/index.ts';

const shared = resolve(fileURLToPath(new URL('../../..', import.meta.url)), 'shared/structuring');
const hasPython = spawnSync('python3', ['--version']).status === 0;
const present = existsSync(join(shared, 'gt.jsonl')) && hasPython;
if (!present) console.warn('SKIPPED: ../shared/structuring or python3 is not there, so the figures of structuring are not measured');

interface Figures {
  eob2: [number, number, number];
  header_exact: number | null;
  header_exact_multi: number | null;
  totals: [number, number, number] | null;
}

function listWorkbooks(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.xlsx$/.test(name))
    .sort()
    .map((name) => join(folder, name));
}

describe.skipIf(!present)('analyze and build, measured on labelled sheets', () => {
  const folder = present ? mkdtempSync(join(tmpdir(), 'structuring-')) : '';
  const problems: string[] = [];
  const times: number[] = [];
  let figures: Record<string, Figures> = {};

  beforeAll(async () => {
    const lines: string[] = [];
    for (const file of ['fuste', 'saus', 'tasi', 'tablesense_enron', 'unlabelled'].flatMap((set) => listWorkbooks(join(shared, set)))) {
      const start = performance.now();
      const { sheets } = await readWorkbook(file);
      const spec = analyze(sheets, file);
      const result = build(sheets, spec, file);
      times.push(performance.now() - start);
      for (const line of describeSheets(
        file,
        sheets.map((grid) => grid.sheet),
        spec,
      ))
        lines.push(JSON.stringify(line));
      for (const sheet of result.conservation) if (sheet.lost.length + sheet.twice.length > 0) problems.push(`${file} ${sheet.sheet}`);
    }
    const predictions = join(folder, 'pred.jsonl');
    writeFileSync(predictions, lines.join('\n'));
    const scored = execFileSync('python3', [join(shared, 'score.py'), '--gt', join(shared, 'gt.jsonl'), '--pred', predictions, '--json'], {
      encoding: 'utf8',
    });
    figures = JSON.parse(scored) as Record<string, Figures>;
  }, 900_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['fuste', 0.93],
    ['saus', 0.94],
    ['tasi', 0.8],
    ['tablesense_enron', 0.72],
  ])('finds the tables of %s within two cells', (set, floor) => {
    expect(figures[set]?.eob2[2]).toBeGreaterThanOrEqual(floor);
  });

  it('finds header rows exactly, and totals', () => {
    expect(figures.all?.header_exact).toBeGreaterThanOrEqual(0.92);
    expect(figures.all?.header_exact_multi).toBeGreaterThanOrEqual(0.85);
    expect(figures.saus?.totals?.[2]).toBeGreaterThanOrEqual(0.8);
  });

  it('accounts for every cell of every workbook', () => {
    expect(problems).toEqual([]);
  });

  it('takes under two seconds a workbook, nineteen times out of twenty', () => {
    times.sort((a, b) => a - b);
    expect(times[Math.floor(times.length * 0.95)]).toBeLessThan(2000);
  });

  it('gives the golden tables whole', async () => {
    const actual = join(folder, 'actual');
    mkdirSync(actual);
    for (const name of readdirSync(join(shared, 'golden'))) {
      const [file] = listWorkbooks(join(shared, 'golden', name));
      if (!file) continue;
      const { sheets } = await readWorkbook(file);
      const { tables, archivedRaw, findings } = build(sheets, analyze(sheets, file), file);
      const shown = tables.map((table) => ({ name: table.name, columns: table.columns, row_count: table.rowCount, rows: listRows(table) }));
      writeFileSync(join(actual, `${name}.json`), JSON.stringify({ tables: shown, archived_raw: archivedRaw, findings }));
    }
    const report = execFileSync('python3', [join(shared, 'compare.py'), '--dir', join(shared, 'golden'), '--actual', actual], {
      encoding: 'utf8',
    });
    const [, points, of] = /^all\s+(\d+)\/(\d+)/m.exec(report) ?? [];
    expect(points, report).toBe(of);
  });
});
