import Stripe from 'stripe';

export const secretKey = 'sk_test_notarealkey';
const webhookSecret = 'whsec_notarealsecret';

/** A service that takes payments through Stripe; without an address nothing answers there. */
export function stripeEnv(apiUrl = 'http://127.0.0.1:9') {
  return { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret, STRIPE_API_URL: apiUrl };
}

const { webhooks } = new Stripe(secretKey);

/** The header that Stripe sends with this body. */
export function signCallback(payload: string, { secret = webhookSecret, at = new Date() } = {}): string {
  return webhooks.generateTestHeaderString({ payload, secret, timestamp: Math.floor(at.getTime() / 1000) });
}
