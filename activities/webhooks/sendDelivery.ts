import type { Readable } from 'node:stream';
import { asSentence, DomainError } from '../../core/errors.ts';
import { readRetryAfter } from '../../core/outbound/retryAfter.ts';
import { judgeAnswer, type Verdict } from '../../core/webhooks/judgeAnswer.ts';
import { OutboundFailure } from '../../store/outbound/outboundFailure.ts';
import type { DueDelivery } from '../../store/pg/deliveries.ts';
import type { Services } from '../../store/services.ts';
import { readSigningSecret } from './secret.ts';
import { signDelivery } from './signDelivery.ts';

export interface Try {
  verdict: Verdict;
  /** Null: there was no answer. */
  status: number | null;
  error: string | null;
  retryAfterMs: number | null;
}

const timeoutMs = 15_000;
/** Of an answer so much is read, for so long: a connection whose answer was read to its end can be used again. */
const answerBytes = 16 * 1024;
const answerMs = 1_000;

/** Sends a delivery once. */
export async function sendDelivery(services: Services, delivery: DueDelivery, signal: AbortSignal | undefined): Promise<Try> {
  const { url, secret, previousSecret, previousSecretExpiresAt } = delivery.webhook;
  const at = new Date();
  const isRotating = previousSecret !== null && previousSecretExpiresAt !== null && previousSecretExpiresAt > at;
  const secrets = [secret, ...(isRotating ? [previousSecret] : [])].map((sealed) => readSigningSecret(services, sealed));
  try {
    const answer = await services.outbound.request(url, {
      method: 'POST',
      headers: signDelivery(delivery, secrets, at),
      body: delivery.payload,
      timeoutMs,
      mostBytes: 2 * answerBytes,
      signal,
    });
    await discard(answer.body);
    return { ...judgeAnswer(answer.status), status: answer.status, retryAfterMs: readRetryAfter(answer.headers['retry-after'], at) };
  } catch (error) {
    const failed = { verdict: 'failed', status: null, retryAfterMs: null } as const;
    if (error instanceof OutboundFailure) return { ...failed, error: asSentence(`Not delivered: ${error.message}`) };
    if (error instanceof DomainError && error.code === 'url-refused') return { ...failed, error: error.detail };
    throw error;
  }
}

/** What the receiver says beside its status does not matter, nor that it breaks off or never ends. */
async function discard(body: Readable): Promise<void> {
  const timer = setTimeout(() => body.destroy(), answerMs);
  let bytes = 0;
  try {
    for await (const piece of body) {
      bytes += (piece as Buffer).length;
      if (bytes > answerBytes) break;
    }
  } catch {
    // The status was read.
  } finally {
    clearTimeout(timer);
    body.destroy();
  }
}
