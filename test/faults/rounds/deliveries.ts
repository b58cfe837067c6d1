import { startReceiver } from '../../webhooks/receiver.ts';
import type { Caller } from './caller.ts';
import { book, makeBook, makeTable, type Story } from './story.ts';

/** Edits are told of by a webhook: each event at least once, in the order of the edits. */
export async function deliverEvents(caller: Caller): Promise<Story & { stop(): Promise<void> }> {
  const workbookId = await makeBook(caller, 'Told');
  await makeTable(caller, workbookId, 'told', [{ name: 'n', type: 'BIGINT' }]);
  const receiver = await startReceiver();
  const webhook = await caller.post('/api/v1/me/webhooks', { url: receiver.url, events: ['artifact.updated'] });
  let edits = 0;
  const listVersions = () => {
    const seen = new Set<string>();
    return receiver.received.flatMap(({ event }) => {
      if (event.workbook_id !== workbookId || seen.has(event.id) || !('edit_version' in event.data)) return [];
      seen.add(event.id);
      return [Number(event.data.edit_version)];
    });
  };
  return {
    name: 'deliveries',
    async work() {
      await caller.post(`${book(workbookId)}/tables/told/rows`, { rows: [{ n: edits }], expected_version: null });
      edits += 1;
    },
    async findFaults() {
      for (const untilMs = Date.now() + 240_000; listVersions().length < edits && Date.now() < untilMs; )
        await new Promise((done) => setTimeout(done, 250));
      const versions = listVersions();
      if (versions.length < edits) {
        const { deliveries } = await caller.get(`/api/v1/me/webhooks/${webhook.id}/deliveries?limit=5`);
        return [`${versions.length} of ${edits} events came; the last deliveries: ${JSON.stringify(deliveries)}`];
      }
      return versions.every((version, i) => version === i + 2) ? [] : [`events came as versions ${versions.join(' ')}`];
    },
    count: () => edits,
    stop: () => receiver.stop(),
  };
}
