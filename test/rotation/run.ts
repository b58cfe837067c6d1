/**
 * npm run rotation -- [--worst PART]
 *
 * The labelled sheets of ../shared/structuring in five parts by template: F1 of the tables of each part, its totals, and what it costs to call
 * sheets doubtful below a confidence that was chosen on the other parts. `--worst` lists the wrong sheets without a flag of all parts but
 * one, which is left for scoring.
 */

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parseRange } from '../../core/a1/address.ts';
import { CellKind, type Grid } from '../../core/grid/grid.ts';
import { analyze, build, isTableRegion, type SpecRegion } from '../../core/structuring/index.ts';
import { DOUBTFUL_CONFIDENCE } from '../../core/structuring/thresholds.ts';
import { readWorkbook } from '../../store/xlsx/index.ts';
import { type Cost, isFlagged, type Judged, rotate, weighThreshold } from './doubt.ts';
import { isMostlyRight, type Matched, matchTables, scoreF1 } from './match.ts';
import { assignParts, PARTS, type SheetTexts } from './templates.ts';
import { addTotals, countTotals, type LabelledTotals, type TotalCounts } from './totals.ts';

interface Truth {
  set: string;
  file: string;
  sheet: string;
  tables: LabelledTotals[];
  complete?: boolean;
}

interface Scored extends Judged, SheetTexts {
  set: string;
  matched: Matched;
  totals: TotalCounts;
}

const shared = resolve(fileURLToPath(new URL('../../..', import.meta.url)), 'shared/structuring');
const { values } = parseArgs({ options: { worst: { type: 'string' } } });

async function readSheets(): Promise<Scored[]> {
  const byFile = new Map<string, Truth[]>();
  for (const line of readFileSync(join(shared, 'gt.jsonl'), 'utf8').trim().split('\n')) {
    const truth = JSON.parse(line) as Truth;
    byFile.set(truth.file, [...(byFile.get(truth.file) ?? []), truth]);
  }
  const sheets: Scored[] = [];
  for (const [file, truths] of byFile) {
    const grids = (await readWorkbook(join(shared, file))).sheets;
    const spec = analyze(grids, file);
    const raw = new Set(build(grids, spec, file).rawSheets.map(({ sheet }) => sheet));
    for (const truth of truths) sheets.push(scoreSheet(truth, grids, spec.regions, raw.has(truth.sheet)));
  }
  const parts = assignParts(sheets);
  sheets.forEach((sheet, k) => {
    sheet.part = parts[k] ?? 0;
  });
  return sheets;
}

function scoreSheet({ set, file, sheet, tables, complete = true }: Truth, grids: Grid[], regions: SpecRegion[], isRaw: boolean): Scored {
  const own = regions.filter((region) => region.sheet === sheet && isTableRegion(region));
  const matched = matchTables(
    tables.map(({ range }) => range),
    own.map(({ range }) => range),
    complete,
  );
  const largest = own.reduce<SpecRegion | null>((best, region) => (best && sizeOf(best) >= sizeOf(region) ? best : region), null);
  const grid = grids.find((one) => one.sheet === sheet);
  return {
    set,
    book: file,
    sheet,
    texts: grid ? listTexts(grid) : new Set(),
    part: 0,
    matched,
    totals: countTotals(tables, own),
    isRight: isMostlyRight(matched),
    confidence: isRaw ? null : (largest?.confidence ?? null),
  };
}

function sizeOf({ range }: SpecRegion): number {
  const { top, left, bottom, right } = parseRange(range) ?? { top: 1, left: 1, bottom: 0, right: 0 };
  return (bottom - top + 1) * (right - left + 1);
}

function listTexts({ size, kinds, texts, strings }: Grid): Set<string> {
  const found = new Set<string>();
  for (let i = 0; i < size; i += 1) if (kinds[i] === CellKind.text) found.add(strings[texts[i] ?? -1]?.trim() ?? '');
  return found;
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
const tell = ({ sheets, wrong, missed, alarmed, deserved }: Cost) =>
  `${wrong} of ${sheets} wrong; wrong without a flag ${percent(missed)} of all, right with one ${percent(alarmed)}, flags deserved ${percent(deserved)}`;

const tellTotals = (name: string, { wanted, sums, foundSums, computed, foundComputed }: TotalCounts) =>
  `${name}: ${foundSums} of ${wanted} labelled totals are among ${sums} sums, ${foundComputed} among ${computed} computed rows`;

const sheets = await readSheets();
for (const set of new Set(sheets.map((sheet) => sheet.set))) {
  const own = sheets.filter((sheet) => sheet.set === set);
  const parts = Array.from({ length: PARTS }, (_, part) =>
    scoreF1(own.filter((sheet) => sheet.part === part).map(({ matched }) => matched)),
  );
  console.log(`${set}: F1 ${percent(scoreF1(own.map(({ matched }) => matched)))}; by part ${parts.map(percent).join(', ')}`);
}
for (const set of new Set(sheets.map((sheet) => sheet.set))) {
  const own = sheets.filter((sheet) => sheet.set === set);
  const totals = addTotals(own.map((sheet) => sheet.totals));
  if (totals.wanted === 0) continue;
  console.log(
    `${tellTotals(set, totals)} (${percent(totals.foundSums / totals.wanted)}, ${percent(totals.foundComputed / totals.wanted)})`,
  );
  for (let part = 0; part < PARTS; part += 1)
    console.log(tellTotals(`  part ${part}`, addTotals(own.filter((sheet) => sheet.part === part).map((sheet) => sheet.totals))));
}
const { parts, all } = rotate(sheets);
parts.forEach(({ threshold, cost }, part) => {
  console.log(`part ${part}, below ${threshold.toFixed(2)} by the others: ${tell(cost)}`);
});
console.log(`all parts, each with a threshold chosen on the others: ${tell(all)}`);
console.log(`all, below ${DOUBTFUL_CONFIDENCE} as it is set: ${tell(weighThreshold(sheets, DOUBTFUL_CONFIDENCE))}`);
for (const threshold of [0.2, 0.3, 0.35, 0.4, 0.45, 0.5]) console.log(`  below ${threshold}: ${tell(weighThreshold(sheets, threshold))}`);
if (values.worst !== undefined)
  for (const { book, sheet, part, confidence, isRight, matched } of sheets)
    if (part !== Number(values.worst) && !isRight && !isFlagged({ part, confidence, isRight }, DOUBTFUL_CONFIDENCE))
      console.log(`${book} ${sheet}: ${matched.found} of ${matched.wanted} found, ${matched.given} given, confidence ${confidence}`);
