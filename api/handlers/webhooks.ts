import { publishUntilNow } from '../../activities/events/publishNews.ts';
import { createWebhook, planWebhook } from '../../activities/webhooks/createWebhook.ts';
import { pageDeliveries } from '../../activities/webhooks/pageDeliveries.ts';
import { pageWebhooks } from '../../activities/webhooks/pageWebhooks.ts';
import { redeliver } from '../../activities/webhooks/redeliver.ts';
import { removeWebhook } from '../../activities/webhooks/removeWebhook.ts';
import { requireWebhook } from '../../activities/webhooks/requireWebhook.ts';
import { rotateSecret } from '../../activities/webhooks/rotateSecret.ts';
import { testWebhook } from '../../activities/webhooks/testWebhook.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';
import { presentDelivery, presentWebhook } from '../presenters/webhooks.ts';

type WebhookOperations =
  | 'listWebhooks'
  | 'createWebhook'
  | 'deleteWebhook'
  | 'listDeliveries'
  | 'redeliverEvent'
  | 'testWebhook'
  | 'rotateWebhookSecret';

export function makeWebhookHandlers({ services }: ApiParts): Handlers<WebhookOperations> {
  return {
    async listWebhooks({ principal, query }) {
      const page = await pageWebhooks(services, principal, query);
      return { status: 200, body: { webhooks: page.items.map(presentWebhook), next_cursor: page.nextCursor } };
    },

    async createWebhook(call) {
      const { principal, body } = call;
      const wanted = await planWebhook(services, principal, { url: body.url, events: body.events ?? [] });
      // A webhook does not hear of what happened before it was made; by the order of things, as clocks are put back.
      await publishUntilNow(services);
      return call.write(
        (tx) => createWebhook(services, tx, principal, wanted),
        ({ webhook, secret }) => ({ status: 201, body: { ...presentWebhook(webhook), secret } }),
      );
    },

    async deleteWebhook(call) {
      const webhook = await requireWebhook(services, call.principal, call.params.webhook_id);
      return call.write(
        (tx) => removeWebhook(tx, webhook),
        () => ({ status: 204 }),
      );
    },

    async listDeliveries({ principal, params, query }) {
      const webhook = await requireWebhook(services, principal, params.webhook_id);
      const page = await pageDeliveries(services, webhook, query);
      return { status: 200, body: { deliveries: page.items.map(presentDelivery), next_cursor: page.nextCursor } };
    },

    async redeliverEvent(call) {
      const webhook = await requireWebhook(services, call.principal, call.params.webhook_id);
      return call.write(
        (tx) => redeliver(tx, webhook, call.params.delivery_id),
        (delivery) => ({ status: 200, body: presentDelivery(delivery) }),
      );
    },

    async testWebhook(call) {
      const webhook = await requireWebhook(services, call.principal, call.params.webhook_id);
      return call.write(
        (tx) => testWebhook(services, tx, webhook),
        (delivery) => ({ status: 201, body: presentDelivery(delivery) }),
      );
    },

    async rotateWebhookSecret(call) {
      const webhook = await requireWebhook(services, call.principal, call.params.webhook_id);
      return call.write(
        (tx) => rotateSecret(services, tx, webhook),
        ({ webhook: rotated, secret }) => ({ status: 200, body: { ...presentWebhook(rotated), secret } }),
      );
    },
  };
}
