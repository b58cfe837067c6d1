/** A small form of `npm run plants`, where ../shared is there. Nothing of it is kept in this repository. */

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { listSamples, measureClean, measurePlants } from '../plants/measure.ts';

const shared = resolve(fileURLToPath(new URL('../../..', import.meta.url)), 'shared/structuring');
const present = existsSync(join(shared, 'gt.jsonl'));
if (!present) console.warn('SKIPPED: ../shared/structuring is not there, so reviews are not measured');

describe.skipIf(!present)('errors planted in real sheets', () => {
  const samples = present ? listSamples(shared, ['saus', 'fuste', 'tasi']) : [];

  it('are found, nine of ten', async () => {
    const outcomes = await measurePlants(shared, samples, 30, 7);
    expect(outcomes).toHaveLength(30);
    const missed = outcomes.filter(({ found }) => found === null);
    expect(missed.length, JSON.stringify(missed.filter(({ part }) => part === 'seen'))).toBeLessThanOrEqual(3);
  }, 300_000);

  it('are not told of sheets in which there are none, but for one a sheet', async () => {
    const every = 12;
    const sheets = await measureClean(
      shared,
      samples.filter((_, k) => k % every === 0),
    );
    const errors = sheets.reduce((sum, sheet) => sum + sheet.errors, 0);
    expect(errors).toBeLessThanOrEqual(sheets.length);
  }, 300_000);
});
