import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { DomainError } from '../../core/errors.ts';
import { readRetryAfter } from '../../core/outbound/retryAfter.ts';
import type { Outbound, OutboundAnswer, OutboundRequest } from '../outbound/openOutbound.ts';
import { OutboundFailure } from '../outbound/outboundFailure.ts';
import { DriveFailure } from './drive.ts';

/** A longer wait is left to whoever asked. */
const longestWaitS = 5;
const mostTries = 3;
const mostJsonBytes = 8 * 1024 * 1024;
const jsonTimeoutMs = 30_000;

/** What the providers say about an error: Google its reasons, Microsoft a code, both in `error`. */
interface DriveError {
  error?: string | { code?: unknown; errors?: { reason?: string }[] };
}

const throttleReasons = new Set(['rateLimitExceeded', 'userRateLimitExceeded', 'activityLimitReached', 'sharingRateLimitExceeded']);

type CallOptions = Pick<OutboundRequest, 'method' | 'headers' | 'body'> &
  Partial<Pick<OutboundRequest, 'timeoutMs' | 'mostBytes' | 'signal'>>;

/** Calls a provider and waits a little where it asks for that. Answers that are errors are thrown; redirects are answers. */
export async function callDrive(outbound: Outbound, url: string, options: CallOptions): Promise<OutboundAnswer> {
  for (let tried = 1; ; tried += 1) {
    const answer = await send(outbound, url, options);
    if (answer.status < 400) return answer;
    const failure = await readFailure(answer);
    const waitS = failure.retryAfterS ?? tried;
    const isPassing = failure.reason === 'throttled' || failure.reason === 'unavailable';
    if (!isPassing || tried === mostTries || waitS > longestWaitS) throw failure;
    await delay(waitS * 1000, null, { signal: options.signal });
  }
}

export async function callDriveJson<T>(outbound: Outbound, url: string, options: CallOptions): Promise<T> {
  const { status, body } = await callDrive(outbound, url, options);
  if (status !== 200) body.destroy();
  try {
    if (status === 200) return JSON.parse(await text(body)) as T;
  } catch (error) {
    throw new DriveFailure('unavailable', null, error);
  }
  throw new DriveFailure('unavailable');
}

export const bearer = (accessToken: string) => ({ headers: { authorization: `Bearer ${accessToken}`, accept: 'application/json' } });

async function send(outbound: Outbound, url: string, options: CallOptions): Promise<OutboundAnswer> {
  try {
    return await outbound.request(url, { timeoutMs: jsonTimeoutMs, mostBytes: mostJsonBytes, ...options });
  } catch (error) {
    // A refused address is one of the configuration or of the provider, not one that the user named.
    if (error instanceof OutboundFailure || error instanceof DomainError) throw new DriveFailure('unavailable', null, error);
    throw error;
  }
}

async function readFailure({ status, headers, body }: OutboundAnswer): Promise<DriveFailure> {
  const said = await readError(body);
  const { error } = said;
  const reasons =
    typeof error === 'object' ? [String(error.code ?? ''), ...(error.errors ?? []).map(({ reason }) => reason ?? '')] : [error ?? ''];
  const retryAfterMs = readRetryAfter(headers['retry-after'], new Date());
  const retryAfterS = retryAfterMs === null ? null : Math.ceil(retryAfterMs / 1000);
  if (status === 429 || (status === 403 && reasons.some((reason) => throttleReasons.has(reason))))
    return new DriveFailure('throttled', retryAfterS);
  if (status >= 500) return new DriveFailure('unavailable', retryAfterS);
  if (reasons.includes('exportSizeLimitExceeded')) return new DriveFailure('too-large');
  if (reasons.some((reason) => ['invalid_grant', 'interaction_required', 'consent_required', 'login_required'].includes(reason)))
    return new DriveFailure('consent');
  if (status === 401) return new DriveFailure('token');
  if (status === 404 || status === 410) return new DriveFailure('not-found');
  // Graph answers 400 to an id that is none.
  if (status === 400 && reasons.includes('invalidRequest')) return new DriveFailure('not-found');
  if (status === 403) return new DriveFailure('forbidden');
  return new DriveFailure('unavailable');
}

async function readError(body: OutboundAnswer['body']): Promise<DriveError> {
  try {
    const said: unknown = JSON.parse(await text(body));
    return typeof said === 'object' && said !== null ? said : {};
  } catch {
    return {};
  }
}
