import { createHmac } from 'node:crypto';

interface Signed {
  id: string;
  type: string;
  payload: string;
}

/**
 * The headers of a delivery, signed with each of the secrets. `X-SVC-Signature` is keyed with the whole text of a secret and
 * signs the body; `webhook-signature` is that of Standard Webhooks, keyed with the bytes after `whsec_`, and signs id and time too.
 */
export function signDelivery({ id, type, payload }: Signed, secrets: readonly string[], at: Date): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const plain = secrets.map((secret) => `sha256=${createHmac('sha256', secret).update(payload).digest('hex')}`);
  const standard = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${payload}`).digest('base64')}`;
  });
  return {
    'Content-Type': 'application/json',
    'X-SVC-Signature': plain.join(','),
    'X-SVC-Event': type,
    'X-SVC-Delivery': id,
    'X-SVC-Timestamp': timestamp,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': standard.join(' '),
  };
}
