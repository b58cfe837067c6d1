import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Whose rows the statements of this request or activity may see and change. It goes along with the work, and the database
 * layer tells it to PostgreSQL, whose policies hold every statement to it. Where nothing was said, nothing is seen.
 */
const whose = new AsyncLocalStorage<string>();

const nobodys = '';
export const everybodys = '*';

/** The work is for these accounts, and sees their rows alone. */
export function inAccounts<T>(accountIds: readonly string[], work: () => PromiseLike<T>): Promise<T> {
  return runFor(accountIds.reduce(joinAccounts, nobodys), work);
}

export function inAccount<T>(accountId: string, work: () => PromiseLike<T>): Promise<T> {
  return inAccounts([accountId], work);
}

/** The work is about accounts that are not known beforehand: finding out who asks, and what sweeps do for everybody. */
export function acrossAccounts<T>(work: () => PromiseLike<T>): Promise<T> {
  return runFor(everybodys, work);
}

/** The work is for accounts as they were in force before. Waits inside: a statement of the query builder is sent only when somebody waits for it. */
export function runFor<T>(accounts: string, work: () => PromiseLike<T>): Promise<T> {
  return whose.run(accounts, async () => await work());
}

/** As PostgreSQL is told: ids between commas, or the sign for everything. */
export function accountsInForce(): string {
  return whose.getStore() ?? nobodys;
}

export function joinAccounts(accounts: string, accountId: string): string {
  if (!/^\w+$/.test(accountId)) throw new Error('that is no id of an account');
  if (accounts === everybodys) return accounts;
  return accounts === nobodys ? accountId : `${accounts},${accountId}`;
}
