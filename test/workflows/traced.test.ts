import { beforeAll, expect, it } from 'vitest';
import { quietTemporal } from '../setup/quietTemporal.ts';
import { listHistories, replayHistory } from './replay.ts';

/** Whoever switches traces on does not break workflows that run. */

beforeAll(() => {
  quietTemporal();
});

const names = listHistories().map(({ name }) => name.replace(/\.json$/, ''));

it.each(names)('goes on with spans as it began without: %s', async (name) => {
  await replayHistory(name, undefined, { traced: true });
});

it('notices what differs', async () => {
  const changed = (text: string) => text.replaceAll('"activityId": "1"', '"activityId": "9"');
  await expect(replayHistory('anchorAudit', changed, { traced: true })).rejects.toThrow();
});
