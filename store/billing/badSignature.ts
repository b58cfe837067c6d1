import { DomainError } from '../../core/errors.ts';

export function badSignature(cause?: unknown): DomainError {
  const fix =
    'Only the payment provider calls this address. Check that STRIPE_WEBHOOK_SECRET is that of the endpoint, and the clock of this machine.';
  return new DomainError('bad-signature', 'The callback is not signed by the payment provider, or was signed long ago.', fix, { cause });
}
