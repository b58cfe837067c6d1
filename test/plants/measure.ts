import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nameCell, parseRange } from '../../core/a1/address.ts';
import type { Grid, Range } from '../../core/grid/grid.ts';
import type { Finding } from '../../core/review/finding.ts';
import { readWorkbook } from '../../store/xlsx/index.ts';
import { type LabelledTable, openRandom, type Plant, pick, plantDuplicate, plantShift, plantTotal } from './plant.ts';
import { reviewGrids } from './reviewGrids.ts';

const plants = { total: plantTotal, shift: plantShift, duplicate: plantDuplicate };
const kinds = Object.keys(plants) as Plant['kind'][];

/** Rules were written while one half of the files was looked at; the other was only ever scored. */
export type Part = 'seen' | 'aside';

export interface Outcome {
  file: string;
  part: Part;
  kind: Plant['kind'];
  what: string;
  /** The severity of the finding that tells of it; null: none does. */
  found: 'error' | 'warning' | null;
}

export interface CleanSheet {
  file: string;
  part: Part;
  errors: number;
}

interface Sample {
  file: string;
  part: Part;
  sheet: string;
  tables: LabelledTable[];
}

export function partOf(file: string): Part {
  const name = file.split('/').at(-1) ?? '';
  return [...name].reduce((hash, letter) => (hash * 31 + letter.charCodeAt(0)) >>> 0, 7) % 2 === 0 ? 'seen' : 'aside';
}

export function listSamples(shared: string, sets: string[]): Sample[] {
  const lines = readFileSync(join(shared, 'gt.jsonl'), 'utf8').trim().split('\n');
  return lines.flatMap((line): Sample[] => {
    const { set, file, sheet, tables } = JSON.parse(line) as {
      set: string;
      file: string;
      sheet: string;
      tables: { range: string; header_rows: number[] | null; total_rows: number[] | null }[];
    };
    if (!sets.includes(set)) return [];
    const labelled = tables.map(({ range, header_rows, total_rows }) => ({
      range: parseRange(range) as Range,
      headerRows: header_rows ?? [],
      totalRows: total_rows ?? [],
    }));
    return [{ file, part: partOf(file), sheet, tables: labelled }];
  });
}

/** Plants `count` errors, a third of each kind, each alone in a sheet of its own choosing, and looks whether the review tells of it. */
export async function measurePlants(shared: string, samples: Sample[], count: number, seed: number): Promise<Outcome[]> {
  const random = openRandom(seed);
  const outcomes: Outcome[] = [];
  const before = new Map<string, Set<string>>();
  for (let tries = 0; outcomes.length < count && tries < count * 100; tries += 1) {
    const sample = pick(random, samples) as Sample;
    const { sheets } = await readWorkbook(join(shared, sample.file));
    const at = sheets.findIndex(({ sheet }) => sheet === sample.sheet);
    const table = pick(random, sample.tables);
    if (at < 0 || !table) continue;
    const kind = kinds[outcomes.length % kinds.length] as Plant['kind'];
    const plant = plants[kind](sheets[at] as Grid, table, random);
    if (!plant) continue;
    const known = before.get(sample.file) ?? new Set(reviewGrids([sheets[at] as Grid], sample.file).map(keyOf));
    before.set(sample.file, known);
    const after = reviewGrids([plant.grid], sample.file);
    const cells = new Set(plant.cells.map(({ row, column }) => nameCell(row, column)));
    const telling = after.filter((finding) => !known.has(keyOf(finding)) && finding.evidence.some(({ cell }) => cell && cells.has(cell)));
    const found = (['error', 'warning'] as const).find((each) => telling.some(({ severity }) => severity === each)) ?? null;
    outcomes.push({ file: sample.file, part: sample.part, kind, what: plant.what, found });
  }
  return outcomes;
}

/** What was told before the error was planted does not tell of it. */
function keyOf({ rule, message }: Finding): string {
  return `${rule} ${message}`;
}

export async function measureClean(shared: string, samples: Sample[]): Promise<CleanSheet[]> {
  const sheets: CleanSheet[] = [];
  for (const { file, part, sheet } of samples) {
    const grid = (await readWorkbook(join(shared, file))).sheets.find((each) => each.sheet === sheet);
    if (!grid) continue;
    const errors = reviewGrids([grid], file).filter(({ severity }) => severity === 'error').length;
    sheets.push({ file, part, errors });
  }
  return sheets;
}
