import { type Bucket, closeKey, type HeldCredits, type Lot, type Movement, monthOfBooks, type Source } from './books.ts';

/**
 * Ends a reservation. `settle` spends it; `release` returns it to its lots, except that credits of expired lots expire, and that
 * overage was never there. Null: it has ended already.
 */
export function planClosing(lots: Lot[], held: HeldCredits, jobId: string, kind: 'settle' | 'release', at: Date): Movement | null {
  if (held.closed !== null) return null;
  const month = monthOfBooks(lots, at);
  const target = (source: Source, ends: number): Bucket => {
    if (kind === 'settle') return 'spent';
    if (source === 'overage') return 'issued';
    return ends < month ? 'expired' : 'available';
  };
  const shifts = held.parts.map(({ source, ends, amount }) => ({
    source,
    ends,
    from: 'reserved' as const,
    to: target(source, ends),
    amount,
  }));
  return { key: closeKey(jobId), kind, ref: jobId, workbookId: held.workbookId, shifts };
}

export function sumHeld(held: HeldCredits): number {
  return held.parts.reduce((sum, { amount }) => sum + amount, 0);
}
