import { acrossAccounts, inAccounts } from '../store/pg/accountScope.ts';
import { findAccountOf } from '../store/pg/accounts.ts';
import type { Services } from '../store/services.ts';

type Run = (...args: never[]) => Promise<unknown>;
type RunForOne = (id: string, ...more: never[]) => Promise<unknown>;

/**
 * Runs activities with the rows of one account: that of the job, table or webhook whose id is the first argument. If it is gone, they
 * see no rows.
 */
export function inAccountOf<T extends Record<string, RunForOne>>(
  services: Services,
  what: 'jobs' | 'tables' | 'webhooks',
  activities: T,
): T {
  return wrapAll(activities, (run: RunForOne) => async (id: string, ...more: never[]) => {
    const accountId = await findAccountOf(services.db, what, id);
    return inAccounts(accountId === null ? [] : [accountId], () => run(id, ...more));
  });
}

/** Runs activities with the rows of all accounts. */
export function inAllAccounts<T extends Record<string, Run>>(activities: T): T {
  return wrapAll(
    activities,
    (run: Run) =>
      (...args) =>
        acrossAccounts(() => run(...args)),
  );
}

function wrapAll<T extends object, One>(activities: T, wrap: (run: One) => One): T {
  return Object.fromEntries(Object.entries(activities).map(([name, run]) => [name, wrap(run as One)])) as T;
}
