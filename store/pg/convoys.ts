import type pg from 'pg';
import type { AccountPool } from './accountPool.ts';
import { runFor } from './whoseRows.ts';

/** A statement that is a whole transaction, and takes its own `synchronous_commit` back: it is on disk once its convoy is. */
export interface Rider {
  name: string;
  text: string;
  values: unknown[];
}

export type SendAlong = (accounts: string, road: string, rider: Rider) => Promise<pg.QueryResult>;

interface Waiting {
  rider: Rider;
  resolve(result: pg.QueryResult): void;
  reject(error: unknown): void;
}

const mostRiders = 50;
/** Tells the connection until when its next riders may wait for locks, all of them together: as long as one of them alone. */
const shareWait = {
  name: 'share_wait',
  text: `SELECT set_config($1, CASE current_setting('lock_timeout') WHEN '0' THEN ''
           ELSE (clock_timestamp() + current_setting('lock_timeout')::interval)::text END, false)`,
  values: ['svc.wait_until'],
};
/** Wherever there is much to do, the last one has so many milliseconds left. */
const leastWait = 100;

/**
 * The first value of a rider, by which it comes to wait no longer than its convoy may: otherwise all those who want what
 * somebody holds would wait for it one after the other, and everybody else behind them. Elsewhere nothing but the value.
 */
export const waitTogether = (value: string) => `CASE
  WHEN coalesce(current_setting('svc.wait_until', true), '') = '' THEN ${value}
  WHEN set_config('lock_timeout', greatest(${leastWait},
    (extract(epoch FROM current_setting('svc.wait_until')::timestamptz - clock_timestamp()) * 1000)::integer)::text, true) <> '' THEN ${value} END`;

const flush = `SELECT pg_logical_emit_message(true, 'flush', '')`;

/**
 * Statements that would wait for the same lock anyway go down one connection, one behind the other, and are flushed to disk
 * together; those that come meanwhile make up the next convoy. `road` names the lock. Each succeeds or fails alone, and is
 * answered after the flush.
 */
export function makeConvoys(pool: AccountPool): SendAlong {
  const roads = new Map<string, Waiting[]>();

  const travel = async (accounts: string, convoy: Waiting[]): Promise<void> => {
    let broken: Error | undefined;
    try {
      const client = await runFor(accounts, () => pool.connect());
      try {
        const [shared, flushed, ...arrived] = await Promise.allSettled(sendConvoy(client, convoy));
        for (const own of [shared, flushed]) if (own?.status === 'rejected') throw own.reason;
        convoy.forEach(({ resolve, reject }, i) => {
          const outcome = arrived[i] as PromiseSettledResult<pg.QueryResult>;
          if (outcome.status === 'fulfilled') resolve(outcome.value);
          else reject(outcome.reason);
        });
      } catch (error) {
        broken = error as Error;
        throw error;
      } finally {
        client.release(broken);
      }
    } catch (error) {
      for (const { reject } of convoy) reject(error);
    }
  };

  /** Until nobody waits any more. */
  const serve = async (road: string, accounts: string, waiting: Waiting[]): Promise<void> => {
    while (waiting.length > 0) await travel(accounts, waiting.splice(0, mostRiders));
    roads.delete(road);
  };

  return (accounts, name, rider) =>
    new Promise((resolve, reject) => {
      const road = `${name} ${accounts}`;
      const waiting = roads.get(road);
      if (waiting) {
        waiting.push({ rider, resolve, reject });
        return;
      }
      const first = [{ rider, resolve, reject }];
      roads.set(road, first);
      // Behind the requests that arrived together with this one.
      setImmediate(() => void serve(road, accounts, first));
    });
}

/** In one packet; what goes first and last, for all of them, comes first among the answers. */
function sendConvoy(client: pg.PoolClient, convoy: Waiting[]): Promise<pg.QueryResult>[] {
  const { stream } = (client as pg.Client).connection;
  stream.cork();
  try {
    const shared = client.query(shareWait);
    const riders = convoy.map(({ rider }) => client.query(rider));
    return [shared, client.query(flush), ...riders];
  } finally {
    stream.uncork();
  }
}
