import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type pg from 'pg';
import { DomainError } from '../../core/errors.ts';
import { AccountPool } from './accountPool.ts';
import { type LookUp, makeLookUp } from './lookups.ts';

export type Orm = NodePgDatabase;

export interface Database {
  /** Its statements see the rows of the accounts that the work is for. */
  pool: AccountPool;
  orm: Orm;
  /** Finds out who asks, for many requests at a time, and so across accounts. */
  lookUp: LookUp;
  close(): Promise<void>;
}

/** Without the schema: it is needed for relational queries alone, and working it out costs more than most statements. */
export function bindOrm(client: pg.Pool | pg.PoolClient): Orm {
  return drizzle(client);
}

export function openDatabase(url: string, options: { poolSize: number; onError: (error: Error) => void }): Database {
  const pool = openPool(url, options.poolSize, options.onError);
  // Of its own: connections would have to be told anew, twice in each request, if both took turns on them.
  const lookUpPool = openPool(url, lookUpConnections, options.onError);
  return {
    pool,
    orm: bindOrm(pool),
    lookUp: makeLookUp(lookUpPool),
    async close() {
      await Promise.all([pool.end(), lookUpPool.end()]);
    },
  };
}

const lookUpConnections = 4;

function openPool(url: string, size: number, onError: (error: Error) => void): AccountPool {
  const pool = new AccountPool({
    connectionString: url,
    max: size,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
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
const gaveUpWaiting = new Set(['55P03', '25P04', '57014']);

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
