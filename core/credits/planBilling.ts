import { type Books, type Movement, monthOfBooks } from './books.ts';
import { nameMonth } from './month.ts';

/**
 * Closes the overage of months that are over, and of an account that left pay-as-you-go. `credits`: what joins its arrears. A job
 * of such a month that ends later is closed by the next time.
 */
export function planBilling({ plan, lots, overage }: Books, at: Date): { credits: number; movements: Movement[] } {
  const month = monthOfBooks(lots, at);
  const closed = overage.filter(({ ends, spent }) => spent > 0 && (ends < month || plan !== 'payg'));
  return {
    credits: closed.reduce((sum, { spent }) => sum + spent, 0),
    movements: closed.map(({ ends, spent, settled }) => ({
      // What is settled only grows, so the key names this closing and no other.
      key: `bill:${nameMonth(ends)}:${settled}`,
      kind: 'bill',
      ref: null,
      workbookId: null,
      shifts: [{ source: 'overage', ends, from: 'spent', to: 'settled', amount: spent }],
    })),
  };
}
