import type { OperationId } from '../../api/http/contract.ts';
import { ok } from '../setup/api.ts';
import type { MakeSample } from './sample.ts';
import type { World } from './world.ts';

/** Where nobody listens; the tests may call it. */
export const nowhere = 'http://127.0.0.1:9/hook';

const hooks = '/api/v1/me/webhooks' as const;

async function makeTested(world: World): Promise<{ webhook: string; delivery: string }> {
  const webhook = await makeWebhook(world);
  const tested = await world.owner.client.POST(`${hooks}/{webhook_id}/test`, { params: { path: { webhook_id: webhook } } });
  return { webhook, delivery: ok(tested).id };
}

async function makeWebhook({ owner }: World): Promise<string> {
  return ok(await owner.client.POST(hooks, { body: { url: nowhere, events: ['version.merged'] } })).id;
}

type WebhookOperation = Extract<OperationId, `${string}Webhook${string}` | 'listEvents' | 'listDeliveries' | 'redeliverEvent'>;

export const webhookSamples: Record<WebhookOperation, MakeSample> = {
  listEvents: () => ({ path: '/api/v1/me/events' }),
  listWebhooks: () => ({ path: hooks }),
  createWebhook: () => ({ path: hooks, body: { url: nowhere } }),
  listDeliveries: async (world) => ({ path: `${hooks}/${(await makeTested(world)).webhook}/deliveries` }),
  async redeliverEvent(world) {
    const { webhook, delivery } = await makeTested(world);
    return { path: `${hooks}/${webhook}/deliveries/${delivery}/redeliver` };
  },
  testWebhook: async (world) => ({ path: `${hooks}/${await makeWebhook(world)}/test` }),
  rotateWebhookSecret: async (world) => ({ path: `${hooks}/${await makeWebhook(world)}/rotate` }),
  deleteWebhook: async (world) => ({ path: `${hooks}/${await makeWebhook(world)}` }),
};
