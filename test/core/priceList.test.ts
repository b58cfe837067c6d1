import { describe, expect, it } from 'vitest';
import { autoTopup, priceCredits, priceStructuring } from '../../core/credits/priceList.ts';

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

describe('a recharge', () => {
  it('is never less than what a card can be charged', () => {
    expect(priceCredits(autoTopup.leastAmount, autoTopup)).toBeGreaterThanOrEqual(50);
    expect(autoTopup.amount).toBeGreaterThanOrEqual(autoTopup.leastAmount);
  });
});
