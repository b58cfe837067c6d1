import { describe, expect, it } from 'vitest';
import { analyze, build, describeSheets, isTableRegion } from '../../core/structuring/index.ts';
import { drawGrid } from '../structuring/picture.ts';
import { footers } from './footers.ts';
import { headers } from './headers.ts';
import { hierarchies } from './hierarchies.ts';
import { layouts } from './layouts.ts';
import { lists } from './lists.ts';
import { reports } from './reports.ts';
import type { CorpusSheet } from './sheet.ts';

/**
 * Structuring measured on sheets of our own, so that a bare clone can tell whether it got better or worse.
 * What a person finds on a sheet is not changed to suit the code: a miss stays a miss until the code finds it.
 */

const corpus = [...lists, ...reports, ...headers, ...layouts, ...hierarchies, ...footers];

interface Score {
  right: number;
  of: number;
}

const scores = { tables: none(), headers: none(), totals: none(), columns: none() };
const misses: string[] = [];

function none(): Score {
  return { right: 0, of: 0 };
}

const share = ({ right, of }: Score) => right / of;

/** Everything wanted that was found is right; what was found beside it counts as well, so that guessing does not pay. */
function count(score: Score, where: string, wanted: unknown[], found: unknown[]): void {
  const [expected, actual] = [new Set(wanted.map(String)), new Set(found.map(String))];
  for (const each of new Set([...expected, ...actual])) {
    score.of += 1;
    if (expected.has(each) && actual.has(each)) score.right += 1;
    else misses.push(`${where}: ${expected.has(each) ? 'missed' : 'found'} ${each}`);
  }
}

function measure(sheet: CorpusSheet): void {
  const grid = drawGrid(sheet.picture, sheet.options);
  const spec = analyze([grid], 'sheet.xlsx');
  const [line] = describeSheets('sheet.xlsx', [grid.sheet], spec);
  const found = line?.tables ?? [];
  count(
    scores.tables,
    sheet.name,
    sheet.tables.map(({ range }) => range),
    found.map(({ range }) => range),
  );
  for (const table of sheet.tables) {
    const own = found.find(({ range }) => range === table.range);
    if (!own) continue;
    count(scores.headers, `${sheet.name}, header`, [table.headerRows], [own.header_rows]);
    count(scores.totals, `${sheet.name}, totals`, table.totalRows ?? [], own.total_rows);
    const region = spec.regions.find((candidate) => isTableRegion(candidate) && candidate.range === table.range);
    count(scores.columns, `${sheet.name}, columns`, table.columns, region?.columns.map(({ name, type }) => `${name} ${type}`) ?? []);
  }
}

for (const sheet of corpus) measure(sheet);

describe('analyze, over the corpus', () => {
  it('has a score', () => {
    const shown = Object.entries(scores).map(([name, score]) => `${name} ${score.right}/${score.of}`);
    console.log([`corpus of ${corpus.length} sheets: ${shown.join(', ')}`, ...misses].join('\n  '));
    expect(corpus.length).toBeGreaterThanOrEqual(20);
  });

  it.each([
    ['tables', 1],
    ['headers', 1],
    ['totals', 1],
    ['columns', 0.98],
  ] as const)('finds %s for at least %d of them', (name, floor) => {
    expect(share(scores[name])).toBeGreaterThanOrEqual(floor);
  });
});

describe('build, over the corpus', () => {
  it.each(corpus.map((sheet) => [sheet.name, sheet] as const))('accounts for every cell: %s', (_, sheet) => {
    const grid = drawGrid(sheet.picture, sheet.options);
    const { conservation, rawSheets } = build([grid], analyze([grid], 'sheet.xlsx'), 'sheet.xlsx');
    expect(conservation.map(({ lost, twice }) => [lost, twice])).toEqual([[[], []]]);
    expect(rawSheets).toEqual([]);
  });
});
