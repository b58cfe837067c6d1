import { expect } from 'vitest';
import { countCeiling } from '../../core/billing/overage.ts';
import { type Books, type Bucket, closeKey, type HeldCredits, type Movement, reserveKey, type Source } from '../../core/credits/books.ts';
import type { Plan } from '../../core/credits/priceList.ts';
import type { LotBalances } from '../../core/credits/showCredits.ts';

interface PlainLot {
  source: Source;
  ends: number;
  buckets: Record<Bucket, number>;
}

/** Books in memory, with the rules that the database has: keys are unique, no bucket is overdrawn, movements are of whole amounts. */
export class PlainBooks {
  readonly lots = new Map<string, PlainLot>();
  readonly movements = new Map<string, Movement>();
  private readonly spentIn: { lot: string; at: Date; amount: number }[] = [];
  plan: Plan = 'free';
  planStatus = 'none';

  read(): Books {
    const { plan } = this;
    const all = [...this.lots.values()];
    return {
      accountId: 'acc',
      plan,
      kind: 'default',
      planStatus: 'none',
      ceiling: countCeiling(this),
      lots: all.flatMap(({ source, ends, buckets }) => (source === 'overage' ? [] : [{ source, ends, available: buckets.available }])),
      overage: all.flatMap(({ source, ends, buckets: { reserved, spent, settled } }) =>
        source === 'overage' ? [{ ends, reserved, spent, settled }] : [],
      ),
    };
  }

  readHeld(jobId: string): HeldCredits | null {
    const reserved = this.movements.get(reserveKey(jobId));
    const closed = this.movements.get(closeKey(jobId))?.kind ?? null;
    return reserved
      ? {
          workbookId: reserved.workbookId,
          parts: reserved.shifts.map(({ source, ends, amount }) => ({ source, ends, amount })),
          closed: closed as HeldCredits['closed'],
        }
      : null;
  }

  apply(movements: Movement[], at: Date): void {
    for (const movement of movements) {
      expect(this.movements.has(movement.key)).toBe(false);
      expect(movement.shifts).not.toEqual([]);
      this.movements.set(movement.key, movement);
      const touched = new Set<string>();
      for (const { source, ends, from, to, amount } of movement.shifts) {
        const name = `${source} ${ends}`;
        for (const bucket of [from, to]) {
          expect(touched).not.toContain(`${name} ${bucket}`);
          touched.add(`${name} ${bucket}`);
        }
        const empty = { issued: 0, available: 0, reserved: 0, spent: 0, settled: 0, expired: 0 };
        const lot = this.lots.get(name) ?? { source, ends, buckets: empty };
        this.lots.set(name, lot);
        lot.buckets[from] -= amount;
        lot.buckets[to] += amount;
        expect(amount).toBeGreaterThan(0);
        expect(from === 'issued' ? 0 : lot.buckets[from]).toBeGreaterThanOrEqual(0);
        expect(lot.buckets.issued).toBeLessThanOrEqual(0);
        if (to === 'spent') this.spentIn.push({ lot: name, at, amount });
      }
    }
  }

  /** The lots that can be spent in a month, given as 202611. */
  balances(month: number): LotBalances[] {
    const begin = new Date(Date.UTC(Math.floor(month / 100), (month % 100) - 1, 1));
    return [...this.lots]
      .filter(([, { ends }]) => ends >= month)
      .map(([name, { source, buckets }]) => {
        const { available, reserved, spent, settled } = buckets;
        const before = this.spentIn.filter(({ lot, at }) => lot === name && at < begin);
        const spentBefore = before.reduce((sum, { amount }) => sum + amount, 0);
        return { source, available, reserved, spent, settled, spentBefore };
      });
  }
}
