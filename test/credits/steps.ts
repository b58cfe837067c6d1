import fc from 'fast-check';
import type { ModelAccount } from './model.ts';

/** What happens to an account's credits, in any order, for whoever keeps books. Months count from January 2026, which is 0. */

const job = fc.integer({ min: 0, max: 5 }).map((n) => `job_${n}`);
const late = fc.integer({ min: 0, max: 9 }).map((n) => n === 0);

export const anyStep = fc.oneof(
  { weight: 1, arbitrary: fc.record({ do: fc.constant('month' as const), months: fc.integer({ min: 1, max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('grant' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('buy' as const),
      ref: fc.integer({ min: 0, max: 3 }).map((n) => `pay_${n}`),
      amount: fc.integer({ min: 1, max: 150 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('reserve' as const), job, amount: fc.integer({ min: 1, max: 180 }), late }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('settle' as const), job }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('release' as const), job, late }) },
);
export type Step = typeof anyStep extends fc.Arbitrary<infer S> ? S : never;

/** What the steps are such that all of it happens. */
export const outcomes = [
  'buy true',
  'buy false',
  'reserve reserved',
  'reserve no_credits',
  'reserve refused',
  'settle amount',
  'settle refused',
  'release released',
  'release settled',
  'release nothing_reserved',
];

const firstOf = (month: number) => new Date(Date.UTC(2026, month, 1));
export const endOf = (month: number) => new Date(firstOf(month + 1).getTime() - 1);

/** When a step's transaction began: a late one before the month did. */
export function timeOf(step: Step, clock: number): { month: number; at: Date } {
  const month = 'late' in step && step.late && clock > 1 ? clock - 1 : clock;
  return { month, at: new Date(firstOf(month).getTime() + 86_400_000) };
}

export function takeInModel(model: ModelAccount, step: Step, month: number): unknown {
  switch (step.do) {
    case 'month':
      return null;
    case 'grant':
      model.grant(month);
      return null;
    case 'buy':
      return model.purchase(step.ref, step.amount);
    case 'reserve':
      return model.reserve(step.job, step.amount, month);
    case 'settle':
      return model.settle(step.job, month);
    case 'release':
      return model.release(step.job, month);
  }
}
