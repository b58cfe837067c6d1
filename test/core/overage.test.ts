import { describe, expect, it } from 'vitest';
import { countCeiling, countOwed, isSettleable } from '../../core/billing/overage.ts';
import type { Books, HeldCredits, Movement, OverageLot, Shift } from '../../core/credits/books.ts';
import { never } from '../../core/credits/month.ts';
import { planBilling } from '../../core/credits/planBilling.ts';
import { planClosing } from '../../core/credits/planClosing.ts';
import { planCoverAfter } from '../../core/credits/planCover.ts';
import { planPurchase } from '../../core/credits/planPurchase.ts';
import { planReservation } from '../../core/credits/planReservation.ts';
import { priceCredits, overage as prices } from '../../core/credits/priceList.ts';
import { showCredits } from '../../core/credits/showCredits.ts';

const november = new Date('2026-11-30T12:00:00Z');
const december = new Date('2026-12-01T12:00:00Z');
const lot = (spent: number, reserved = 0, settled = 0, ends = 202611): OverageLot => ({ ends, reserved, spent, settled });
const booksOf = (available: number, ...overage: OverageLot[]): Books => ({
  accountId: 'acc',
  plan: 'payg',
  kind: 'default',
  planStatus: 'none',
  ceiling: prices.mostCredits,
  lots: [{ source: 'included', ends: 202611, available }],
  overage,
});
const show = (movements: Movement[]) =>
  movements.flatMap(({ key, shifts }) => shifts.map((s) => `${key} ${s.source} ${s.ends} ${s.from}>${s.to} ${s.amount}`));
const reserve = (books: Books, amount: number) => {
  const { outcome, movements, remaining } = planReservation(books, null, { workbookId: null, jobId: 'j', amount }, november);
  return [outcome, remaining, ...show(movements)];
};

describe('work beyond the credits', () => {
  const most = prices.mostCredits;

  it.each<[string, Books, number, unknown[]]>([
    ['takes what there is first', booksOf(10), 10, ['reserved', 0, 'reserve:j included 202611 available>reserved 10']],
    [
      'runs over for the rest',
      booksOf(10),
      15,
      ['reserved', -5, 'reserve:j included 202611 available>reserved 10', 'reserve:j overage 202611 issued>reserved 5'],
    ],
    ['goes up to the ceiling', booksOf(0), most, ['reserved', -most, `reserve:j overage 202611 issued>reserved ${most}`]],
    ['goes no further', booksOf(0), most + 1, ['no_credits', 0]],
    ['counts what is owed and what is reserved', booksOf(0, lot(most - 10, 5)), 6, ['no_credits', 5 - most]],
    [
      'may take what is left under the ceiling',
      booksOf(0, lot(most - 10, 5)),
      5,
      ['reserved', -most, 'reserve:j overage 202611 issued>reserved 5'],
    ],
    ['is free again where it was settled', booksOf(0, lot(0, 0, most)), 1, ['reserved', -1, 'reserve:j overage 202611 issued>reserved 1']],
    ['is refused where there is no ceiling', { ...booksOf(10), ceiling: 0 }, 11, ['no_credits', 10]],
  ])('%s', (_, books, amount, expected) => {
    expect(reserve(books, amount)).toEqual(expected);
  });

  it.each([
    ['payg', 'none', most],
    ['payg', 'past_due', 0],
    ['free', 'none', 0],
    ['solo', 'active', 0],
    ['pro', 'canceled', 0],
  ] as const)('on the plan %s that is %s may be %i', (plan, planStatus, ceiling) => {
    expect(countCeiling({ plan, planStatus })).toBe(ceiling);
  });

  it('is owed when the job is settled, and never was when it is released, in whatever month', () => {
    const held: HeldCredits = { workbookId: null, parts: [{ source: 'overage', ends: 202611, amount: 5 }], closed: null };
    for (const at of [november, december]) {
      expect(show([planClosing([], held, 'j', 'settle', at) as Movement])).toEqual(['close:j overage 202611 reserved>spent 5']);
      expect(show([planClosing([], held, 'j', 'release', at) as Movement])).toEqual(['close:j overage 202611 reserved>issued 5']);
    }
  });

  it.each<[OverageLot[], string[]]>([
    [[], []],
    [[lot(0, 30)], []],
    [[lot(30)], [`cover:p purchased ${never} available>settled 30`, 'cover:p overage 202611 spent>settled 30']],
    [
      [lot(80, 0, 0, 202612), lot(70)],
      [
        `cover:p purchased ${never} available>settled 100`,
        'cover:p overage 202611 spent>settled 70',
        'cover:p overage 202612 spent>settled 30',
      ],
    ],
  ])('is paid for by a pack: of %j', (overage, covered) => {
    expect(show(planPurchase(overage, 'p', 100))).toEqual([`purchase:p purchased ${never} issued>available 100`, ...covered]);
  });

  it.each<[string, Shift[], string[]]>([
    [
      'that ran over while credits were bought',
      [{ source: 'overage', ends: 202611, from: 'reserved', to: 'spent', amount: 30 }],
      [`cover:close:j purchased ${never} available>settled 30`, 'cover:close:j overage 202611 spent>settled 30'],
    ],
    [
      'that ran over for more than was bought',
      [{ source: 'overage', ends: 202611, from: 'reserved', to: 'spent', amount: 150 }],
      [`cover:close:j purchased ${never} available>settled 100`, 'cover:close:j overage 202611 spent>settled 100'],
    ],
    ['that did not happen', [{ source: 'overage', ends: 202611, from: 'reserved', to: 'issued', amount: 30 }], []],
    ['that was paid for', [{ source: 'purchased', ends: never, from: 'reserved', to: 'spent', amount: 30 }], []],
  ])('of a job %s is paid for with bought credits', (_, shifts, covered) => {
    const books = booksOf(5, lot(0, 200));
    books.lots.push({ source: 'purchased', ends: never, available: 100 });
    const ended: Movement = { key: 'close:j', kind: 'settle', ref: 'j', workbookId: null, shifts };
    expect(show([planCoverAfter(books, ended)].filter((one) => one !== null))).toEqual(covered);
  });

  it('is paid for with bought credits that another job gives back', () => {
    const shifts: Shift[] = [{ source: 'purchased', ends: never, from: 'reserved', to: 'available', amount: 40 }];
    const ended: Movement = { key: 'close:j', kind: 'release', ref: 'j', workbookId: null, shifts };
    const cover = planCoverAfter(booksOf(0, lot(30)), ended) as Movement;
    expect(show([cover])).toEqual([
      `cover:close:j purchased ${never} available>settled 30`,
      'cover:close:j overage 202611 spent>settled 30',
    ]);
  });

  it.each<[string, Books, Date, number, string[]]>([
    ['of a month that runs stays', booksOf(0, lot(30)), november, 0, []],
    ['of a month that is over is closed', booksOf(0, lot(30)), december, 30, ['bill:2026-11:0 overage 202611 spent>settled 30']],
    ['that came late is closed beside it', booksOf(0, lot(5, 0, 30)), december, 5, ['bill:2026-11:30 overage 202611 spent>settled 5']],
    ['of a job that still runs stays', booksOf(0, lot(0, 9)), december, 0, []],
    [
      'is closed at once where the plan has changed',
      { ...booksOf(0, lot(30)), plan: 'solo' },
      november,
      30,
      ['bill:2026-11:0 overage 202611 spent>settled 30'],
    ],
  ])('%s', (_, books, at, credits, expected) => {
    const billed = planBilling(books, at);
    expect([billed.credits, ...show(billed.movements)]).toEqual([credits, ...expected]);
  });

  it('is measured against the floor together with the arrears', () => {
    const { settlementFloor: floor } = prices;
    expect(countOwed(7, [lot(5, 99, 99), lot(3, 0, 0, 202612)], december)).toEqual({ arrears: 12, current: 3 });
    expect([floor - 1, floor].map((current) => isSettleable({ arrears: 0, current }))).toEqual([false, true]);
    expect([floor - 2, floor - 1].map((arrears) => isSettleable({ arrears, current: 1 }))).toEqual([false, true]);
    expect([500, 501, 5000].map((credits) => priceCredits(credits, prices))).toEqual([600, 601, 6000]);
  });

  it.each([
    [lot(30, 10), { included: 200, purchased: 0, used: 240, remaining: -40 }],
    [lot(0, 0, 30), { included: 200, purchased: 30, used: 230, remaining: 0 }],
  ])('is shown as used, and what is owed as negative: %j', ({ reserved, spent, settled }, shown) => {
    const spentAll = { source: 'included' as const, available: 0, reserved: 0, spent: 200, settled: 0, spentBefore: 0 };
    const over = { source: 'overage' as const, available: 0, reserved, spent, settled, spentBefore: 0 };
    expect(showCredits(200, [spentAll, over])).toEqual(shown);
    expect(shown.included + shown.purchased - shown.used).toBe(shown.remaining);
  });
});
