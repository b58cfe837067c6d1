import type { Bucket, Movement, Source } from './books.ts';

/** Credits of a lot that are neither spent nor expired. */
export interface RemainingCredits {
  source: Source;
  ends: number;
  bucket: Extract<Bucket, 'available' | 'reserved'>;
  amount: number;
}

export const forfeitKey = 'forfeit';

/** Lets all that is left expire, once: the account is being deleted. Overage that is held was never there. Null: nothing is left. */
export function planForfeit(remaining: RemainingCredits[]): Movement | null {
  const left = remaining.filter(({ amount }) => amount > 0);
  if (left.length === 0) return null;
  return {
    key: forfeitKey,
    kind: 'expire',
    ref: null,
    workbookId: null,
    shifts: left.map(({ source, ends, bucket, amount }) => ({
      source,
      ends,
      from: bucket,
      to: source === 'overage' ? 'issued' : 'expired',
      amount,
    })),
  };
}
