import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Books, type HeldCredits, type Lot, type Movement, purchaseKey } from '../../core/credits/books.ts';
import { never } from '../../core/credits/month.ts';
import { planClosing, sumHeld } from '../../core/credits/planClosing.ts';
import { planMonth } from '../../core/credits/planMonth.ts';
import { planPurchase } from '../../core/credits/planPurchase.ts';
import { planReservation } from '../../core/credits/planReservation.ts';
import { countIncluded } from '../../core/credits/priceList.ts';
import { showCredits } from '../../core/credits/showCredits.ts';
import { ModelAccount } from '../credits/model.ts';
import { PlainBooks } from '../credits/plainBooks.ts';
import { anyStep, endOf, outcomes, type Step, takeInModel, timeOf } from '../credits/steps.ts';

const november = new Date('2026-11-30T23:59:59.999Z');
const december = new Date('2026-12-01T00:00:00.000Z');
const included = (ends: number, available: number): Lot => ({ source: 'included', ends, available });
const bought = (available: number, ends = never): Lot => ({ source: 'purchased', ends, available });
const booksOf = (...lots: Lot[]): Books => ({
  accountId: 'acc',
  plan: 'free',
  kind: 'default',
  planStatus: 'none',
  ceiling: 0,
  lots,
  overage: [],
});
/** `expire:included:2026-11 included 202611 available>expired 50` */
const show = (movements: Movement[]) =>
  movements.flatMap(({ key, shifts }) => shifts.map((s) => `${key} ${s.source} ${s.ends} ${s.from}>${s.to} ${s.amount}`));

describe('a month of credits', () => {
  const grant = (name: string, month: number, amount = 200) => `grant:${name} included ${month} issued>available ${amount}`;

  it.each<[string, Books, Date, string[]]>([
    ['begins with a grant', booksOf(), november, [grant('2026-11', 202611)]],
    ['has one grant', booksOf(included(202611, 7)), november, []],
    [
      'ends what is left of the one before',
      booksOf(included(202611, 7)),
      december,
      ['expire:included:2026-11 included 202611 available>expired 7', grant('2026-12', 202612)],
    ],
    ['ends nothing where nothing is left', booksOf(included(202611, 0)), december, [grant('2026-12', 202612)]],
    ['does not end what was bought', booksOf(included(202611, 0), bought(5)), december, [grant('2026-12', 202612)]],
    [
      'ends what was bought for a time',
      booksOf(bought(5, 202611)),
      december,
      ['expire:purchased:2026-11 purchased 202611 available>expired 5', grant('2026-12', 202612)],
    ],
    ['does not go back', booksOf(included(202612, 9)), november, []],
    ['brings what the plan includes', { ...booksOf(), plan: 'pro' }, november, [grant('2026-11', 202611, 15_000)]],
    ['brings nothing free to a further account of a person', { ...booksOf(), kind: 'developer' }, november, []],
    [
      'ends what a further account has left, too',
      { ...booksOf(included(202611, 7)), kind: 'developer', plan: 'payg' },
      december,
      ['expire:included:2026-11 included 202611 available>expired 7'],
    ],
    [
      'brings a further account what it pays for',
      { ...booksOf(), kind: 'developer', plan: 'solo' },
      november,
      [grant('2026-11', 202611, 3_000)],
    ],
  ])('%s', (_, books, at, expected) => {
    expect(show(planMonth(books, at).movements)).toEqual(expected);
  });

  it.each([
    ['solo', 'active', 1],
    ['solo', 'canceled', 1],
    ['pro', 'past_due', 0],
    ['payg', 'past_due', 1],
  ] as const)('%s that is %s gets %i grants', (plan, planStatus, grants) => {
    const { movements } = planMonth({ ...booksOf(included(202610, 7)), plan, planStatus }, november);
    expect(movements.filter(({ kind }) => kind === 'grant')).toHaveLength(grants);
    expect(movements.filter(({ kind }) => kind === 'expire')).toHaveLength(1);
  });

  it('is refused to an account that is not there', () => {
    expect(() => planMonth({ accountId: 'acc_x', plan: null, kind: null, planStatus: 'none', lots: [] }, november)).toThrow(
      'no account acc_x',
    );
  });
});

describe('a reservation', () => {
  const reserve = (books: Books, amount: number, held: HeldCredits | null = null, at = november) => {
    const { outcome, movements } = planReservation(books, held, { workbookId: null, jobId: 'j', amount }, at);
    return [outcome, ...show(movements)];
  };
  const of = (source: string, ends: number, amount: number) => `reserve:j ${source} ${ends} available>reserved ${amount}`;

  it.each<[string, Books, number, string[]]>([
    ['takes the plan’s credits first', booksOf(bought(50), included(202611, 50)), 50, ['reserved', of('included', 202611, 50)]],
    [
      'takes bought ones for the rest',
      booksOf(bought(50), included(202611, 20)),
      50,
      ['reserved', of('included', 202611, 20), of('purchased', never, 30)],
    ],
    [
      'takes first what ends first',
      booksOf(bought(50), bought(10, 202701), included(202611, 0)),
      50,
      ['reserved', of('purchased', 202701, 10), of('purchased', never, 40)],
    ],
    ['may take all', booksOf(bought(1), included(202611, 1)), 2, ['reserved', of('included', 202611, 1), of('purchased', never, 1)]],
    ['takes nothing where not all is there', booksOf(bought(1), included(202611, 1)), 3, ['no_credits']],
    ['does not take what has ended', booksOf(included(202610, 100), included(202611, 1), bought(4, 202610)), 2, ['no_credits']],
    [
      'brings the month’s grant, also where that is not enough',
      booksOf(included(202610, 100)),
      201,
      ['no_credits', 'expire:included:2026-10 included 202610 available>expired 100', 'grant:2026-11 included 202611 issued>available 200'],
    ],
    [
      'spends of the month’s grant',
      booksOf(),
      150,
      ['reserved', 'grant:2026-11 included 202611 issued>available 200', of('included', 202611, 150)],
    ],
  ])('%s', (_, books, amount, expected) => {
    expect(reserve(books, amount)).toEqual(expected);
  });

  it.each<[string, Books, number, string[]]>([
    [
      'grants nothing that is there',
      booksOf(bought(50), included(202611, 20)),
      50,
      [of('included', 202611, 20), of('purchased', never, 30)],
    ],
    [
      'grants what is missing',
      booksOf(bought(1), included(202611, 20)),
      50,
      ['grant:j included 202611 issued>available 29', of('included', 202611, 49), of('purchased', never, 1)],
    ],
    [
      'grants it beside the month’s grant',
      booksOf(included(202610, 5)),
      500,
      [
        'expire:included:2026-10 included 202610 available>expired 5',
        'grant:2026-11 included 202611 issued>available 200',
        'grant:j included 202611 issued>available 300',
        of('included', 202611, 500),
      ],
    ],
  ])('without a limit %s', (_, books, amount, expected) => {
    const wanted = { workbookId: null, jobId: 'j', amount, unlimited: true };
    const { outcome, movements } = planReservation(books, null, wanted, november);
    expect([outcome, ...show(movements)]).toEqual(['reserved', ...expected]);
  });

  it.each([
    [null, 'reserved'],
    ['settle', 'reserved'],
    ['release', 'released'],
  ] as const)('of a job whose first one ended with %s changes nothing: %s', (closed, outcome) => {
    expect(reserve(booksOf(), 500, { workbookId: null, parts: [], closed })).toEqual([outcome]);
  });

  it.each([0, -1, 0.5, Number.NaN])('of %d is none', (amount) => {
    expect(() => reserve(booksOf(), amount)).toThrow(RangeError);
    expect(() => planPurchase([], 'pay', amount)).toThrow(RangeError);
  });
});

describe('the end of a reservation', () => {
  const held: HeldCredits = {
    workbookId: 'wb',
    parts: [
      { source: 'included', ends: 202611, amount: 3 },
      { source: 'purchased', ends: never, amount: 4 },
    ],
    closed: null,
  };

  it.each([
    ['settle', november, 'spent', 'spent'],
    ['settle', december, 'spent', 'spent'],
    ['release', november, 'available', 'available'],
    ['release', december, 'expired', 'available'],
  ] as const)('%s at %s moves the plan’s to %s and bought ones to %s', (kind, at, ofPlan, ofBought) => {
    const movement = planClosing([included(202611, 0)], held, 'j', kind, at);
    expect(movement).toMatchObject({ key: 'close:j', kind, ref: 'j', workbookId: 'wb' });
    expect(show([movement as Movement])).toEqual([
      `close:j included 202611 reserved>${ofPlan} 3`,
      `close:j purchased ${never} reserved>${ofBought} 4`,
    ]);
    expect(planClosing([], { ...held, closed: kind }, 'j', 'settle', at)).toBeNull();
    expect(planClosing([], { ...held, closed: kind }, 'j', 'release', at)).toBeNull();
  });
});

describe('credits as they are shown', () => {
  const lot = (source: 'included' | 'purchased', available: number, reserved = 0, spent = 0, spentBefore = 0) => ({
    source,
    available,
    reserved,
    spent,
    settled: 0,
    spentBefore,
  });

  it.each([
    ['free', [], { included: 200, purchased: 0, used: 0, remaining: 200 }],
    ['solo', [lot('purchased', 30, 5, 15)], { included: 3000, purchased: 50, used: 20, remaining: 3030 }],
    ['free', [lot('included', 0, 0, 200)], { included: 200, purchased: 0, used: 200, remaining: 0 }],
    ['free', [lot('included', 200), lot('purchased', 10, 1, 9, 7)], { included: 200, purchased: 13, used: 3, remaining: 210 }],
    // The plan was changed after the month's grant: the books count.
    ['pro', [lot('included', 194, 0, 6), lot('purchased', 5)], { included: 200, purchased: 5, used: 6, remaining: 199 }],
  ] as const)('of the plan %s with %j in the books are %j', (plan, lots, shown) => {
    expect(showCredits(countIncluded(plan, 'default'), [...lots])).toEqual(shown);
    expect(shown.included + shown.purchased - shown.used).toBe(shown.remaining);
  });
});

function takeInBooks(books: PlainBooks, step: Step, at: Date): unknown {
  switch (step.do) {
    case 'month':
      return null;
    case 'grant':
      books.apply(planMonth(books.read(), at).movements, at);
      return null;
    case 'buy':
      if (books.movements.has(purchaseKey(step.ref))) return false;
      books.apply(planPurchase(books.read().overage, step.ref, step.amount), at);
      return true;
    case 'reserve': {
      const wanted = { workbookId: null, jobId: step.job, amount: step.amount };
      const { outcome, movements } = planReservation(books.read(), books.readHeld(step.job), wanted, at);
      books.apply(movements, at);
      return outcome === 'released' ? 'refused' : outcome;
    }
    default: {
      const held = books.readHeld(step.job);
      if (!held) return step.do === 'settle' ? 'refused' : 'nothing_reserved';
      const movement = planClosing(books.read().lots, held, step.job, step.do, at);
      if (movement) books.apply([movement], at);
      if (step.do === 'settle') return held.closed === 'release' ? 'refused' : sumHeld(held);
      return held.closed === 'settle' ? 'settled' : 'released';
    }
  }
}

describe('planned movements', () => {
  it('keep the books sound after any steps, agree with plain counting, and are none when a step is repeated', () => {
    const seen = new Set<unknown>();
    fc.assert(
      fc.property(fc.array(anyStep, { minLength: 5, maxLength: 40, size: 'max' }), (steps) => {
        const [books, model] = [new PlainBooks(), new ModelAccount()];
        let clock = 1;
        for (const step of steps) {
          if (step.do === 'month') clock += step.months;
          const { month, at } = timeOf(step, clock);
          const outcome = takeInBooks(books, step, at);
          expect(outcome).toEqual(takeInModel(model, step, month));
          seen.add(`${step.do} ${typeof outcome === 'number' ? 'amount' : outcome}`);
          const now = endOf(clock);
          expect(showCredits(countIncluded('free', 'default'), books.balances(now.getUTCFullYear() * 100 + now.getUTCMonth() + 1))).toEqual(
            model.show(clock),
          );
          const before = books.movements.size;
          takeInBooks(books, step, at);
          takeInModel(model, step, month);
          expect(books.movements.size).toBe(before);
        }
        for (const { source, ends, buckets } of books.lots.values()) {
          expect(Object.values(buckets).reduce((sum, balance) => sum + balance, 0)).toBe(0);
          const lot = source === 'purchased' ? 'bought' : String((Math.floor(ends / 100) - 2026) * 12 + (ends % 100) - 1);
          const { settled, ...others } = buckets;
          expect([lot, settled, others]).toEqual([lot, 0, model.lots.get(lot)]);
        }
      }),
      { numRuns: 500 },
    );
    // The steps are such that all this happens.
    expect([...seen]).toEqual(expect.arrayContaining(outcomes));
  });
});
