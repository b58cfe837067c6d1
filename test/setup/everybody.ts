import pg from 'pg';
import type { AccountPool } from '../../store/pg/accountPool.ts';
import { acrossAccounts, allAccounts, currentAccounts } from '../../store/pg/accountScope.ts';
import { bindOrm } from '../../store/pg/database.ts';
import { makeLookUpAll, takeOne } from '../../store/pg/lookups.ts';
import { openPolicies } from '../../store/policies.ts';
import type { Services } from '../../store/services.ts';

/** Straight to the database, past the wall between accounts: for looking behind the API, and for tampering. */
export function openSql(connectionString: string, max: number): pg.Pool {
  const sql = new pg.Pool({ connectionString, max, options: '-c svc.accounts=*' });
  sql.on('error', () => {});
  return sql;
}

/**
 * The same services for tests that call what lies below requests and activities: where these would have said whose rows
 * the work is about, it is about everybody's.
 */
export function forEverybody(services: Services): Services {
  const [pool, keyed] = [widen(services.db.pool), widen(services.db.keyed)];
  const listInAccounts = makeLookUpAll(keyed, accounts);
  const db = { ...services.db, pool, keyed, listInAccounts, lookUpInAccounts: takeOne(listInAccounts), orm: bindOrm(pool) };
  return { ...services, db, policies: openPolicies(db) };
}

const accounts = () => currentAccounts() || allAccounts;

function widen(pool: AccountPool): AccountPool {
  return Object.create(pool, {
    accounts: { value: accounts },
    connect: {
      value: (callback: never) => (currentAccounts() ? pool.connect(callback) : acrossAccounts(async () => pool.connect(callback))),
    },
    connectForTransaction: { value: () => pool.connectForTransaction() },
  }) as AccountPool;
}
