import { describe, expect, it } from 'vitest';
import { type ClosingAccount, findViolations, refuseDeletion } from '../../../core/accounts/findViolations.ts';
import { overage } from '../../../core/credits/priceList.ts';

const deletable: ClosingAccount = { name: '取引先', kind: 'developer', planStatus: 'none', owed: { arrears: 0, current: 0 } };
const { settlementFloor } = overage;

describe('findViolations', () => {
  it.each<[string, Partial<ClosingAccount>, string, string[]]>([
    ['an account that may be deleted', {}, '取引先', []],
    ['the default account', { kind: 'default' }, '取引先', ['default-account']],
    ['an active subscription', { planStatus: 'active' }, '取引先', ['subscription-active']],
    ['one that is tried out', { planStatus: 'trialing' }, '取引先', ['subscription-active']],
    ['one that was canceled', { planStatus: 'canceled' }, '取引先', []],
    ['one that is not paid', { planStatus: 'past_due' }, '取引先', []],
    ['overage below the floor, which is written off', { owed: { arrears: settlementFloor - 1, current: 0 } }, '取引先', []],
    [
      'overage of earlier periods and this one at the floor',
      { owed: { arrears: settlementFloor - 1, current: 1 } },
      '取引先',
      ['overage-unsettled'],
    ],
    ['another name', {}, '取引先 ', ['confirm-mismatch']],
    ['a name in another case', { name: 'Portal' }, 'portal', ['confirm-mismatch']],
    ['a name that is composed otherwise', { name: 'が' }, 'か\u3099', ['confirm-mismatch']],
    ['no name', {}, '', ['confirm-mismatch']],
    [
      'all at once',
      { kind: 'default', planStatus: 'active', owed: { arrears: settlementFloor, current: 0 } },
      'x',
      ['default-account', 'subscription-active', 'overage-unsettled', 'confirm-mismatch'],
    ],
  ])('%s', (_, changes, confirm, expected) => {
    expect(findViolations({ ...deletable, ...changes }, confirm).map(({ code }) => code)).toEqual(expected);
  });
});

it('refuseDeletion tells all of them, under the first', () => {
  const [first, ...more] = findViolations({ ...deletable, planStatus: 'active', owed: { arrears: 1000, current: 20 } }, 'x');
  const refusal = refuseDeletion([first as NonNullable<typeof first>, ...more]);
  expect([refusal.code, refusal.status]).toEqual(['subscription-active', 409]);
  expect(refusal.extras.errors).toEqual([
    { type: 'subscription-active', detail: 'The account has a subscription, which is active.' },
    { type: 'overage-unsettled', detail: '1020 credits of overage are not settled.' },
    { type: 'confirm-mismatch', detail: "`confirm` is not the account's name." },
  ]);
});
