import type pg from 'pg';
import type { AccountPool } from './accountPool.ts';
import { flush, sendTogether } from './packets.ts';
import { runFor } from './whoseRows.ts';

/** A statement that is a whole transaction and does not wait for the disk: its convoy does. */
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
        const [flushed, ...arrived] = await Promise.allSettled(sendConvoy(client, convoy));
        if (flushed?.status === 'rejected') throw flushed.reason;
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

/** The flush, which goes last, is the first of the answers. */
function sendConvoy(client: pg.PoolClient, convoy: Waiting[]): Promise<pg.QueryResult>[] {
  return sendTogether(client, () => {
    const riders = convoy.map(({ rider }) => client.query(rider));
    return [client.query(flush), ...riders];
  });
}
