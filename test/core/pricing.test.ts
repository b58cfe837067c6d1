import { describe, expect, it } from 'vitest';
import { showCredits } from '../../core/pricing/credits.ts';
import { priceStructuring } from '../../core/pricing/priceList.ts';

describe('the price of structuring', () => {
  it.each([
    [0, 1],
    [1, 1],
    [19_999, 1],
    [20_000, 1],
    [20_001, 2],
    [40_000, 2],
    [123_456, 7],
    [2_400_000, 120],
    [200_000_001, 10_001],
  ])('of %i cells is %i', (cells, credits) => {
    expect(priceStructuring(cells)).toBe(credits);
  });

  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])('of %d cells is not asked for', (cells) => {
    expect(() => priceStructuring(cells)).toThrow(RangeError);
  });
});

describe('credits', () => {
  it.each([
    ['free', { included: null, purchased: 0, used: 0, remaining: 0 }, { included: 200, purchased: 0, used: 0, remaining: 200 }],
    ['solo', { included: null, purchased: 50, used: 20, remaining: 30 }, { included: 3000, purchased: 50, used: 20, remaining: 3030 }],
    ['free', { included: 200, purchased: 0, used: 200, remaining: 0 }, { included: 200, purchased: 0, used: 200, remaining: 0 }],
    // The plan was changed after the month's grant: the books count.
    ['pro', { included: 200, purchased: 5, used: 6, remaining: 199 }, { included: 200, purchased: 5, used: 6, remaining: 199 }],
  ] as const)('of the plan %s with %j in the books are %j', (plan, booked, shown) => {
    expect(showCredits(plan, booked)).toEqual(shown);
    expect(shown.included + shown.purchased - shown.used).toBe(shown.remaining);
  });
});
