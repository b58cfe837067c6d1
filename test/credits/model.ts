import { plans } from '../../core/credits/priceList.ts';

type Bucket = 'issued' | 'available' | 'reserved' | 'spent' | 'expired';
type Lot = Record<Bucket, number>;

interface Job {
  parts: [lot: string, amount: number][];
  state: 'reserved' | 'settle' | 'release';
}

const emptyLot = (): Lot => ({ issued: 0, available: 0, reserved: 0, spent: 0, expired: 0 });

/** One free account's credits, counted in the plainest way. Months are numbers; the lot of bought credits is `bought`. */
export class ModelAccount {
  readonly lots = new Map<string, Lot>([['bought', emptyLot()]]);
  private readonly jobs = new Map<string, Job>();
  private readonly purchases = new Set<string>();
  private readonly boughtSpent = new Map<number, number>();
  private newest = 0;

  private move(lot: string, from: Bucket, to: Bucket, amount: number): void {
    const held = this.lots.get(lot) ?? emptyLot();
    this.lots.set(lot, held);
    held[from] -= amount;
    held[to] += amount;
  }

  private isOver(lot: string, month: number): boolean {
    return lot !== 'bought' && Number(lot) < month;
  }

  grant(clock: number): number {
    const month = Math.max(clock, this.newest);
    if (month === this.newest) return month;
    for (const [lot, { available }] of this.lots) if (this.isOver(lot, month)) this.move(lot, 'available', 'expired', available);
    this.move(String(month), 'issued', 'available', plans.free.includedCredits);
    this.newest = month;
    return month;
  }

  purchase(ref: string, amount: number): boolean {
    if (this.purchases.has(ref)) return false;
    this.purchases.add(ref);
    this.move('bought', 'issued', 'available', amount);
    return true;
  }

  reserve(id: string, amount: number, clock: number): 'reserved' | 'no_credits' | 'refused' {
    const known = this.jobs.get(id);
    if (known) return known.state === 'release' ? 'refused' : 'reserved';
    const month = this.grant(clock);
    const included = this.lots.get(String(month))?.available ?? 0;
    if (included + (this.lots.get('bought')?.available ?? 0) < amount) return 'no_credits';
    const parts: Job['parts'] = [
      [String(month), Math.min(included, amount)],
      ['bought', Math.max(0, amount - included)],
    ];
    for (const [lot, part] of parts) this.move(lot, 'available', 'reserved', part);
    this.jobs.set(id, { parts, state: 'reserved' });
    return 'reserved';
  }

  settle(id: string, clock: number): number | 'refused' {
    const job = this.jobs.get(id);
    if (!job || job.state === 'release') return 'refused';
    if (job.state === 'reserved') {
      for (const [lot, part] of job.parts) {
        this.move(lot, 'reserved', 'spent', part);
        if (lot === 'bought') this.boughtSpent.set(clock, (this.boughtSpent.get(clock) ?? 0) + part);
      }
      job.state = 'settle';
    }
    return job.parts.reduce((sum, [, part]) => sum + part, 0);
  }

  release(id: string, clock: number): 'released' | 'settled' | 'nothing_reserved' {
    const job = this.jobs.get(id);
    if (!job) return 'nothing_reserved';
    if (job.state === 'settle') return 'settled';
    const month = Math.max(clock, this.newest);
    if (job.state === 'reserved')
      for (const [lot, part] of job.parts) this.move(lot, 'reserved', this.isOver(lot, month) ? 'expired' : 'available', part);
    job.state = 'release';
    return 'released';
  }

  show(clock: number): { included: number; purchased: number; used: number; remaining: number } {
    const now = this.lots.get(String(clock)) ?? { ...emptyLot(), available: plans.free.includedCredits };
    const bought = this.lots.get('bought') ?? emptyLot();
    const used = now.reserved + now.spent + bought.reserved + (this.boughtSpent.get(clock) ?? 0);
    const remaining = now.available + bought.available;
    const included = plans.free.includedCredits;
    return { included, purchased: remaining + used - included, used, remaining };
  }
}
