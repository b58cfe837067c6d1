/** The delimiter is the one that cuts the lines into equally many fields, more than one. */

import { CsvParser } from './csvParser.ts';

export type Delimiter = ',' | '\t' | ';' | '|';

const CANDIDATES: Delimiter[] = [',', '\t', ';', '|'];
const SAMPLE_ROWS = 200;

/** `preferred` wins when it does as well as the others, such as the tab of a .tsv. */
export function detectDelimiter(sample: string, preferred: Delimiter = ','): Delimiter {
  let best = preferred;
  let bestScore = 0;
  for (const delimiter of [preferred, ...CANDIDATES.filter((candidate) => candidate !== preferred)]) {
    const score = scoreDelimiter(sample, delimiter);
    if (score > bestScore + 1e-9) {
      best = delimiter;
      bestScore = score;
    }
  }
  return best;
}

function scoreDelimiter(sample: string, delimiter: Delimiter): number {
  const counts = countFields(sample, delimiter);
  const byCount = new Map<number, number>();
  for (const count of counts) byCount.set(count, (byCount.get(count) ?? 0) + 1);
  let score = 0;
  for (const [fields, rows] of byCount) {
    // More fields are a little better: `1,5;2,5` has two readings of which one cuts further.
    if (fields > 1) score = Math.max(score, (rows / counts.length) * (1 + Math.min(fields, 50) / 1000));
  }
  return score;
}

function countFields(sample: string, delimiter: Delimiter): number[] {
  const counts: number[] = [];
  const parser = new CsvParser(
    delimiter,
    ({ bytes, fields, starts, ends }) => {
      // Blank lines say nothing.
      if (fields > 1 || bytes.toString('utf8', starts[0], ends[0]).trim() !== '') counts.push(fields);
    },
    Number.POSITIVE_INFINITY,
  );
  // The last row of a sample may be cut off: it is never finished here.
  parser.push(Buffer.from(sample), false);
  return counts.slice(0, SAMPLE_ROWS);
}
