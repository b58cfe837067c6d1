import { afterAll } from 'vitest';
import { type ApiClient, ok } from '../setup/api.ts';
import { editRows } from '../setup/tables.ts';
import { type Answer, type Received, type Receiver, startReceiver } from './receiver.ts';
import type { EventKind, useWebhookWorld } from './world.ts';

export const hooks = '/api/v1/me/webhooks' as const;

/** Webhooks with receivers that go with the tests, and what is told of their deliveries. */
export function withReceivers({ owner }: Awaited<ReturnType<typeof useWebhookWorld>>) {
  const receivers: Receiver[] = [];
  afterAll(async () => {
    for (const receiver of receivers) await receiver.stop();
  });

  async function listen(answer?: Answer, events: EventKind[] = [], client: ApiClient = owner.client) {
    const receiver = await startReceiver(answer);
    receivers.push(receiver);
    const { id, secret } = ok(await client.POST(hooks, { body: { url: receiver.url, events } }));
    return { receiver, id, secret, path: { webhook_id: id } };
  }

  const listDeliveries = async (id: string, client = owner.client) =>
    ok(await client.GET(`${hooks}/{webhook_id}/deliveries`, { params: { path: { webhook_id: id }, query: { limit: 1000 } } })).deliveries;
  const deliveriesOf = async (id: string, workbookId: string | null) =>
    (await listDeliveries(id)).filter((delivery) => delivery.workbook_id === workbookId).reverse();
  const versionsOf = (received: Received[], workbookId: string) =>
    received.flatMap(({ event }) => (event.workbook_id === workbookId && 'edit_version' in event.data ? [event.data.edit_version] : []));
  const edit = (book: string, client = owner.client) => editRows(client, book, '表', [{ a: 1 }]);

  return { receivers, listen, listDeliveries, deliveriesOf, versionsOf, edit };
}
