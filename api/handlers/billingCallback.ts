import { receiveCallback } from '../../activities/billing/receiveCallback.ts';
import type { Handlers } from '../http/call.ts';
import type { ApiParts } from '../http/pipeline.ts';

/** What the payment provider tells. The signature over the raw body is the whole authentication. */
export function makeBillingCallbackHandlers({ services }: ApiParts): Handlers<'receiveBillingCallback'> {
  return {
    async receiveBillingCallback({ sentBytes, header, requestId }) {
      await receiveCallback(services, sentBytes, header('stripe-signature'), requestId);
      return { status: 200, body: { received: true } };
    },
  };
}
