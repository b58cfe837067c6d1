import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type pg from 'pg';
import { DomainError } from '../../core/errors.ts';
import { AccountPool } from './accountPool.ts';
import { type LookUp, makeLookUp } from './lookups.ts';
import { makeStatementBatches, type SendBatched } from './statementBatches.ts';
import { accountsInForce, everybodys } from './whoseRows.ts';

export type Orm = NodePgDatabase;

export interface Database {
  /** Its statements see the rows of the accounts that the work is for. */
  pool: AccountPool;
  orm: Orm;
  /** The same for statements that go by keys and are sent often: they are planned once. */
  keyed: AccountPool;
  /** Finds out who asks, for many requests at a time, and so across accounts. */
  lookUp: LookUp;
  /** Finds what requests are about, for several at a time, among the rows of the accounts that they are for. */
  lookUpOwn: LookUp;
  /** Changes that are one statement, for several at a time. */
  sendBatched: SendBatched;
  close(): Promise<void>;
}

/** Without the schema: it is needed for relational queries alone, and working it out costs more than most statements. */
export function bindOrm(client: pg.Pool | pg.PoolClient): Orm {
  return drizzle(client);
}

export function openDatabase(url: string, options: { poolSize: number; onError: (error: Error) => void }): Database {
  const pool = openPool(url, { max: options.poolSize }, options.onError);
  // Of their own: connections would have to be told anew, twice in each request, if both took turns on them.
  const [lookUpPool, keyed] = [openPool(url, byKey(4), options.onError), openPool(url, byKey(8), options.onError)];
  const batched = openPool(
    url,
    { max: 8, options: `-c lock_timeout=${patience.lock} -c transaction_timeout=${patience.transaction}` },
    options.onError,
  );
  return {
    pool,
    keyed,
    orm: bindOrm(pool),
    lookUp: makeLookUp(lookUpPool, () => everybodys),
    lookUpOwn: makeLookUp(keyed, accountsInForce),
    sendBatched: makeStatementBatches(batched),
    async close() {
      await Promise.all([pool, lookUpPool, keyed, batched].map((each) => each.end()));
    },
  };
}

/** How long a change waits for another, and how long it may keep others waiting. */
export const patience = { lock: '3s', transaction: '10s' };

/** Planning a statement anew for each number of keys would take longer than doing it. */
const byKey = (max: number) => ({ max, options: '-c plan_cache_mode=force_generic_plan' });

function openPool(url: string, settings: { max: number; options?: string }, onError: (error: Error) => void): AccountPool {
  const pool = new AccountPool({
    connectionString: url,
    ...settings,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    // What is sent without waiting goes out at once; a transaction saves the way back and forth.
    pipeline: true,
    application_name: 'workbook-data-service',
  });
  // An idle connection that breaks must not end the process: the pool opens another.
  pool.on('error', onError);
  // Nor must one that breaks while a transaction holds it: its statement fails, and that is enough.
  pool.on('connect', (client) => client.on('error', onError));
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
/** The last of them: two changes waited for each other, and one had to go. */
const gaveUpWaiting = new Set(['55P03', '25P04', '57014', '40P01']);

/** Turns "the database is away" and "a lock was not to be had" into 503; everything else stays what it is. */
export function explainDatabaseError(error: unknown): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = (cause as { code?: string }).code ?? '';
    if (
      lostConnection.has(code) ||
      /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/.test(cause.message)
    ) {
      return new DomainError(
        'unavailable',
        'The database cannot be reached just now.',
        'Try again in a few seconds, with the same Idempotency-Key.',
        { cause: error, headers: { 'Retry-After': '2' } },
      );
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

/** The name of the constraint that a statement broke, if that is what happened. */
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
