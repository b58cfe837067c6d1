import { isSettleable, type OwedOverage } from '../billing/overage.ts';
import { DomainError } from '../errors.ts';

/** What decides whether an account may be deleted. */
export interface ClosingAccount {
  name: string;
  kind: 'default' | 'developer';
  planStatus: string;
  owed: OwedOverage;
}

type Violation = 'default-account' | 'subscription-active' | 'overage-unsettled' | 'confirm-mismatch';

interface FoundViolation {
  code: Violation;
  detail: string;
  suggestedFix: string;
}

/** All rules that the deletion of an account would break, in a fixed order. */
export function findViolations({ kind, planStatus, owed, name }: ClosingAccount, confirm: string): FoundViolation[] {
  const rules: [boolean, FoundViolation][] = [
    [
      kind === 'default',
      {
        code: 'default-account',
        detail: 'The default account cannot be deleted.',
        suggestedFix: 'Name a developer account; GET /api/control/accounts lists them.',
      },
    ],
    [
      planStatus === 'active' || planStatus === 'trialing',
      {
        code: 'subscription-active',
        detail: `The account has a subscription, which is ${planStatus}.`,
        suggestedFix: 'Cancel it in the portal first: POST /api/control/account/billing/portal.',
      },
    ],
    [
      isSettleable(owed),
      {
        code: 'overage-unsettled',
        detail: `${owed.arrears + owed.current} credits of overage are not settled.`,
        suggestedFix: 'Let the period be settled, then try again.',
      },
    ],
    [
      confirm !== name,
      {
        code: 'confirm-mismatch',
        detail: "`confirm` is not the account's name.",
        suggestedFix: 'Send the name of the account in `confirm`, exactly as it is.',
      },
    ],
  ];
  return rules.flatMap(([isBroken, violation]) => (isBroken ? [violation] : []));
}

/** One refusal for all of them; status and type are those of the first. */
export function refuseDeletion([first, ...more]: [FoundViolation, ...FoundViolation[]]): DomainError {
  const all = [first, ...more];
  return new DomainError(first.code, all.map(({ detail }) => detail).join(' '), all.map(({ suggestedFix }) => suggestedFix).join(' '), {
    errors: all.map(({ code, detail }) => ({ type: code, detail })),
  });
}
