/**
 * npm run plants -- [--count 200] [--seed 1] [--missed]
 *
 * Plants errors in real sheets of ../shared/structuring and reviews them: how many are found, and how many errors are told of
 * sheets in which none was planted.
 */

import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { listSamples, measureClean, measurePlants, type Outcome } from './measure.ts';

const shared = resolve(fileURLToPath(new URL('../../..', import.meta.url)), 'shared/structuring');
const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    part: { type: 'string' },
    missed: { type: 'boolean' },
  },
});
const samples = listSamples(shared, ['saus', 'fuste', 'tasi']).filter(({ part }) => values.part === undefined || part === values.part);

function share(part: Outcome[], isFound: (outcome: Outcome) => boolean): string {
  const found = part.filter(isFound).length;
  return `${found} of ${part.length} (${((100 * found) / Math.max(1, part.length)).toFixed(1)} %)`;
}

const outcomes = await measurePlants(shared, samples, Number(values.count), Number(values.seed));
for (const part of ['seen', 'aside'] as const) {
  const own = outcomes.filter((outcome) => outcome.part === part);
  if (own.length === 0) continue;
  console.log(`${part}: found ${share(own, ({ found }) => found !== null)}, as errors ${share(own, ({ found }) => found === 'error')}`);
  for (const kind of ['total', 'shift', 'duplicate'])
    console.log(
      `  ${kind}: ${share(
        own.filter((outcome) => outcome.kind === kind),
        ({ found }) => found !== null,
      )}`,
    );
}
console.log(`all: found ${share(outcomes, ({ found }) => found !== null)}`);
// What is set aside is scored and not looked at.
if (values.missed)
  for (const { file, kind, what, found, part } of outcomes)
    if (found === null && part === 'seen') console.log(`missed ${kind} ${file}: ${what}`);
const clean = await measureClean(shared, samples);
for (const part of ['seen', 'aside'] as const) {
  const own = clean.filter((sheet) => sheet.part === part).map(({ errors }) => errors);
  if (own.length === 0) continue;
  const sum = own.reduce((a, b) => a + b, 0);
  const over = own.filter((errors) => errors > 1).length;
  console.log(`${part}, nothing planted: ${(sum / own.length).toFixed(2)} errors a sheet (${own.length} sheets), more than one in ${over}`);
}
