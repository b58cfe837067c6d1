import { checkAmount, type Movement, type OverageLot, purchaseKey, type Shift } from './books.ts';
import { never } from './month.ts';
import { planCover } from './planCover.ts';

/** Purchased credits never expire. They first pay for what is owed, oldest first. */
export function planPurchase(overage: OverageLot[], ref: string, amount: number): Movement[] {
  checkAmount(amount);
  const bought: Shift = { source: 'purchased', ends: never, from: 'issued', to: 'available', amount };
  const purchase: Movement = { key: purchaseKey(ref), kind: 'purchase', ref, workbookId: null, shifts: [bought] };
  const cover = planCover(amount, overage, ref);
  return cover ? [purchase, cover] : [purchase];
}
