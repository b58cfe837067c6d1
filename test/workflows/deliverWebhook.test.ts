import { describe, expect, it } from 'vitest';
import { replayHistory } from './replay.ts';

/** Its histories are recorded by test/webhooks/deliveries.test.ts. */
describe('deliverWebhook', () => {
  it.each(['deliverWebhook', 'deliverWebhookAgain'])('%s replays as it ran', async (name) => {
    await replayHistory(name);
    // A workflow that did something else would be noticed.
    await expect(replayHistory(name, (text) => text.replaceAll('"activityId": "1"', '"activityId": "9"'))).rejects.toThrow();
  });
});
