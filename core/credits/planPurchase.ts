import { checkAmount, type Movement, purchaseKey } from './books.ts';
import { never } from './month.ts';

/** Purchased credits never expire. */
export function planPurchase(ref: string, amount: number): Movement {
  checkAmount(amount);
  const shifts: Movement['shifts'] = [{ source: 'purchased', ends: never, from: 'issued', to: 'available', amount }];
  return { key: purchaseKey(ref), kind: 'purchase', ref, workbookId: null, shifts };
}
