import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * The accounts whose rows the current request or activity may see and change. Follows the asynchronous calls; sent to
 * PostgreSQL, whose row security enforces it. Unset sees no rows.
 */
const scope = new AsyncLocalStorage<string>();

const noAccounts = '';
export const allAccounts = '*';

/** Runs `work` so that it sees only the rows of these accounts. */
export function inAccounts<T>(accountIds: readonly string[], work: () => PromiseLike<T>): Promise<T> {
  return runForAccounts(accountIds.reduce(addAccount, noAccounts), work);
}

export function inAccount<T>(accountId: string, work: () => PromiseLike<T>): Promise<T> {
  return inAccounts([accountId], work);
}

/** Runs `work` so that it sees the rows of all accounts: for authentication, and for sweeps over all accounts. */
export function acrossAccounts<T>(work: () => PromiseLike<T>): Promise<T> {
  return runForAccounts(allAccounts, work);
}

/** `accounts` as `currentAccounts` returns it. The await is needed: statements of the query builder are sent only when awaited. */
export function runForAccounts<T>(accounts: string, work: () => PromiseLike<T>): Promise<T> {
  return scope.run(accounts, async () => await work());
}

/** The value of `svc.accounts`: ids separated by commas, or `*` for all. */
export function currentAccounts(): string {
  return scope.getStore() ?? noAccounts;
}

export function addAccount(accounts: string, accountId: string): string {
  if (!/^\w+$/.test(accountId)) throw new Error('that is no id of an account');
  if (accounts === allAccounts) return accounts;
  return accounts === noAccounts ? accountId : `${accounts},${accountId}`;
}
