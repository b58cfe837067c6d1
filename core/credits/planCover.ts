import type { Books, Movement, OverageLot, Shift } from './books.ts';
import { never } from './month.ts';

/** Bought credits pay for what is owed, oldest first. Null: nothing is owed, or nothing is there. */
export function planCover(available: number, overage: Pick<OverageLot, 'ends' | 'spent'>[], ref: string): Movement | null {
  const covered: Shift[] = [];
  let left = available;
  for (const { ends, spent } of [...overage].sort((a, b) => a.ends - b.ends)) {
    const taken = Math.min(left, spent);
    if (taken > 0) covered.push({ source: 'overage', ends, from: 'spent', to: 'settled', amount: taken });
    left -= taken;
  }
  if (covered.length === 0) return null;
  const paid: Shift = { source: 'purchased', ends: never, from: 'available', to: 'settled', amount: available - left };
  return { key: `cover:${ref}`, kind: 'cover', ref, workbookId: null, shifts: [paid, ...covered] };
}

/**
 * The same once a reservation has ended: a job that ran over may owe what was bought meanwhile, and another may give bought credits
 * back. Without this the account would pay for its overage a second time.
 */
export function planCoverAfter({ lots, overage }: Pick<Books, 'lots' | 'overage'>, ended: Movement): Movement | null {
  const moved = (source: Shift['source'], to: Shift['to'], ends: number) =>
    ended.shifts.reduce((sum, shift) => sum + (shift.source === source && shift.to === to && shift.ends === ends ? shift.amount : 0), 0);
  const available =
    lots.reduce((sum, lot) => sum + (lot.source === 'purchased' ? lot.available : 0), 0) + moved('purchased', 'available', never);
  const owed = overage.map(({ ends, spent }) => ({ ends, spent: spent + moved('overage', 'spent', ends) }));
  return planCover(available, owed, ended.key);
}
