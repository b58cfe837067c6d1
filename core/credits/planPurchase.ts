import { checkAmount, type Movement, type OverageLot, purchaseKey, type Shift } from './books.ts';
import { never } from './month.ts';

/** Purchased credits never expire. They first pay for what is owed, oldest first. */
export function planPurchase(overage: OverageLot[], ref: string, amount: number): Movement[] {
  checkAmount(amount);
  const bought: Shift = { source: 'purchased', ends: never, from: 'issued', to: 'available', amount };
  const purchase: Movement = { key: purchaseKey(ref), kind: 'purchase', ref, workbookId: null, shifts: [bought] };
  const covered: Shift[] = [];
  let left = amount;
  for (const { ends, spent } of [...overage].sort((a, b) => a.ends - b.ends)) {
    const taken = Math.min(left, spent);
    if (taken > 0) covered.push({ source: 'overage', ends, from: 'spent', to: 'settled', amount: taken });
    left -= taken;
  }
  if (covered.length === 0) return [purchase];
  const paid: Shift = { source: 'purchased', ends: never, from: 'available', to: 'settled', amount: amount - left };
  return [purchase, { key: `cover:${ref}`, kind: 'cover', ref, workbookId: null, shifts: [paid, ...covered] }];
}
