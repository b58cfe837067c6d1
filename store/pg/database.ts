import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type pg from 'pg';
import { DomainError, PartAwayError } from '../../core/errors.ts';
import { AccountPool } from './accountPool.ts';
import { allAccounts, currentAccounts } from './accountScope.ts';
import { type LookUp, type LookUpAll, makeLookUpAll, takeOne } from './lookups.ts';
import { makeStatementBatches, type SendBatched } from './statementBatches.ts';

export type Orm = NodePgDatabase;

export interface Database {
  /** Statements see the rows of the current accounts only. */
  pool: AccountPool;
  orm: Orm;
  /** The same for frequent statements that read by key: they are planned once per connection. */
  keyed: AccountPool;
  /** Batches look-ups of many requests, across accounts: for finding out who makes a request. */
  lookUp: LookUp;
  /** Batches look-ups of requests for the same accounts; sees the rows of these accounts only. */
  lookUpInAccounts: LookUp;
  /** The same where more than one row may be found. */
  listInAccounts: LookUpAll;
  /** Sends changes that are one statement in batches. */
  sendBatched: SendBatched;
  close(): Promise<void>;
}

/** Without the schema, which only relational queries need: preparing it would take longer than most statements. */
export function bindOrm(client: pg.Pool | pg.PoolClient): Orm {
  return drizzle(client);
}

interface DatabaseOptions {
  poolSize: number;
  onError: (error: Error) => void;
  /** Sees every new connection first. */
  onConnect?: (client: pg.PoolClient) => void;
}

export function openDatabase(url: string, options: DatabaseOptions): Database {
  const pool = openPool(url, { max: options.poolSize }, options);
  // Two pools: on shared connections, `svc.accounts` would have to be set twice in each request.
  const [lookUpPool, keyed] = [openPool(url, byKey(4), options), openPool(url, byKey(8), options)];
  const batched = openPool(
    url,
    { max: 8, options: `-c lock_timeout=${timeouts.lock} -c transaction_timeout=${timeouts.transaction}` },
    options,
  );
  const listInAccounts = makeLookUpAll(keyed, currentAccounts);
  return {
    pool,
    keyed,
    orm: bindOrm(pool),
    lookUp: takeOne(makeLookUpAll(lookUpPool, () => allAccounts)),
    lookUpInAccounts: takeOne(listInAccounts),
    listInAccounts,
    sendBatched: makeStatementBatches(batched),
    async close() {
      await Promise.all([pool, lookUpPool, keyed, batched].map((each) => each.end()));
    },
  };
}

/** How long a change waits for a lock, and how long it may take. */
export const timeouts = { lock: '3s', transaction: '10s' };

/** Generic plans: planning again for each number of keys would take longer than the statement itself. */
const byKey = (max: number) => ({ max, options: '-c plan_cache_mode=force_generic_plan' });

/** Of each pool, however long nobody asks for them. */
const keptConnections = 2;

function openPool(url: string, settings: { max: number; options?: string }, { onError, onConnect }: DatabaseOptions): AccountPool {
  const pool = new AccountPool({
    connectionString: url,
    ...settings,
    // A new connection takes as long as some dozen statements, and plans each of them again.
    min: keptConnections,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    // Statements are sent without waiting for earlier results, which saves round trips in transactions.
    pipeline: true,
    application_name: 'workbook-data-service',
  });
  // Without a listener, an idle connection that breaks would end the process. The pool opens another.
  pool.on('error', onError);
  // The same for connections in use; their statement fails as well, which is reported there.
  pool.on('connect', (client) => {
    client.on('error', onError);
    onConnect?.(client);
  });
  return pool;
}

const lostConnection = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'ETIMEDOUT',
  '57P01',
  '57P02',
  '57P03',
  '08000',
  '08003',
  '08006',
  '53300',
]);
/** Lock timeout, transaction timeout, cancelled statement, deadlock. */
const gaveUpWaiting = new Set(['55P03', '25P04', '57014', '40P01']);

/** Turns lost connections and lock timeouts into 503; returns other errors unchanged. */
export function explainDatabaseError(error: unknown): unknown {
  // Its words are chosen already, and its cause may be another connection than that to the database.
  if (error instanceof DomainError) return error;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code = '', syscall } = cause as NodeJS.ErrnoException;
    if (
      lostConnection.has(code) ||
      // The file of its socket is gone while it does not run.
      (code === 'ENOENT' && syscall === 'connect') ||
      /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/.test(cause.message)
    ) {
      return new PartAwayError('The database cannot be reached just now.', 'Try again in a few seconds, with the same Idempotency-Key.', {
        cause: error,
        headers: { 'Retry-After': '2' },
      });
    }
    if (gaveUpWaiting.has(code)) {
      return new DomainError(
        'unavailable',
        'Another change held this for too long.',
        'Try again in a few seconds, with the same Idempotency-Key.',
        { cause: error, headers: { 'Retry-After': '1' } },
      );
    }
  }
  return error;
}

/** The name of the unique or foreign key constraint that a statement violated. Null: another error. */
export function brokenConstraint(error: unknown): string | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, constraint } = cause as { code?: string; constraint?: string };
    if (code === '23505' || code === '23503') return constraint ?? '';
  }
  return null;
}

/** Fails when the database does not answer. */
export async function pingDatabase({ pool }: Pick<Database, 'pool'>): Promise<void> {
  await pool.query('SELECT 1');
}
