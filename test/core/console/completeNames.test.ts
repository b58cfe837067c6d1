import { describe, expect, it } from 'vitest';
import { completeNames } from '../../../console/pages/ask/completeNames.ts';

const names = { 店別売上: ['店', '値'], '2024 売上': ['品目', '単価 (円)'], Sales: ['amount'] };
/** The query with the cursor at `|`. */
const complete = (query: string, isAsked = false) => {
  const found = completeNames(names, query.replace('|', ''), query.indexOf('|'), isAsked);
  return found && [found.from, found.offers.filter(({ isNear }) => isNear).map(({ apply }) => apply)];
};

describe('completeNames', () => {
  it('completes names in any script, from where they begin', () => {
    expect(complete('SELECT * FROM 店|')).toEqual([14, ['店別売上', '"2024 売上"', 'Sales']]);
    expect(complete('SELECT | FROM 店別売上')).toBeNull();
    expect(complete('SELECT | FROM 店別売上', true)).toEqual([7, ['店', '値', '店別売上', '"2024 売上"', 'Sales']]);
  });

  it('offers the columns of a table behind its dot alone', () => {
    expect(complete('SELECT 店別売上.|')).toEqual([12, ['店', '値']]);
    expect(complete('SELECT sales.a|')).toEqual([13, ['amount']]);
    expect(complete('SELECT "2024 売上".単|')).toEqual([17, ['品目', '"単価 (円)"']]);
  });

  it('ends a quote that was begun', () => {
    expect(complete('SELECT * FROM "20|')).toEqual([15, ['店別売上"', '2024 売上"', 'Sales"']]);
  });
});
