import Stripe from 'stripe';
import { DomainError } from '../../../core/errors.ts';
import type { StripeConfig } from '../../config.ts';

/** The name of the account in the metadata of what is made at Stripe. */
export const accountField = 'workbook_account';
/** The pack of credits that a payment buys. */
export const packField = 'workbook_pack';

/** For each try of a call; card networks take longer than Stripe itself. */
export const chargeTimeoutMs = 30_000;
const timeoutMs = 10_000;

export function makeClient({ secretKey, apiUrl }: StripeConfig): Stripe {
  const { protocol, hostname, port } = new URL(apiUrl);
  const isPlain = protocol === 'http:';
  return new Stripe(secretKey, {
    protocol: isPlain ? 'http' : 'https',
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port || (isPlain ? 80 : 443),
    timeout: timeoutMs,
    // A repeated call carries the same idempotency key.
    maxNetworkRetries: 1,
    telemetry: false,
  });
}

/** Runs calls of Stripe. What goes wrong is told without anything that Stripe said: that is for the operator, in the log. */
export async function ask<T>(calls: () => Promise<T>): Promise<T> {
  try {
    return await calls();
  } catch (error) {
    throw error instanceof Stripe.errors.StripeError ? explainFailure(error) : error;
  }
}

const passing = ['StripeConnectionError', 'StripeAPIError', 'StripeRateLimitError'];

function explainFailure(error: InstanceType<typeof Stripe.errors.StripeError>): DomainError {
  const cause = new StripeFailure(error.type, [error.code ?? error.statusCode, error.requestId].filter(Boolean).join(' '));
  const isPassing = passing.includes(error.type) || error.statusCode === 409;
  return isPassing
    ? new DomainError('unavailable', 'The payment provider does not answer at the moment.', 'Try again in a minute.', {
        cause,
        headers: { 'Retry-After': '60' },
      })
    : new DomainError(
        'unavailable',
        'The payment provider refuses what this service asks.',
        'Tell the operator of the service; its log says why.',
        { cause, headers: { 'Retry-After': '600' } },
      );
}

/**
 * Why Stripe refuses a request that it would refuse again: a customer that is gone, an amount that is too small. Null: another kind of
 * failure, such as no answer, a key without rights, or the same request under way.
 */
export function readRefusal(error: unknown): string | null {
  return error instanceof Stripe.errors.StripeInvalidRequestError ? (error.code ?? 'invalid_request') : null;
}

/** Kind, code and request id: what Stripe's support asks for. */
class StripeFailure extends Error {
  constructor(
    override readonly name: string,
    readonly code: string,
  ) {
    super(name);
  }
}

/** Null: there is no such thing, or not any more. */
export async function findThing<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (hasCode(error, 'resource_missing')) return null;
    throw error;
  }
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Stripe.errors.StripeError && error.code === code;
}

/** Whether what a parameter names is not there. */
export function isMissing(error: unknown, param: string): boolean {
  return hasCode(error, 'resource_missing') && (error as { param?: string }).param === param;
}

/** References are ids, or the things themselves where those were asked for. */
export function idOf(reference: string | { id: string } | null | undefined): string | null {
  return typeof reference === 'string' ? reference : (reference?.id ?? null);
}

/** The account that something was made for; null: it was not made by this service. */
export function accountIn(metadata: Stripe.Metadata | null | undefined): string | null {
  const accountId = metadata?.[accountField] ?? '';
  return /^\w{1,64}$/.test(accountId) ? accountId : null;
}
