import type pg from 'pg';
import type { AccountPool } from './accountPool.ts';
import { runForAccounts } from './accountScope.ts';
import { flushSql, sendTogether } from './sendTogether.ts';

/** A statement that is a transaction of its own and does not wait for the disk; its batch does. */
export interface BatchedStatement {
  name: string;
  text: string;
  values: unknown[];
}

export type SendBatched = (accounts: string, lock: string, statement: BatchedStatement) => Promise<pg.QueryResult>;

interface Waiting {
  statement: BatchedStatement;
  resolve(result: pg.QueryResult): void;
  reject(error: unknown): void;
}

const mostInBatch = 50;

/**
 * Sends statements that wait for the same lock (named by `lock`) in batches over one connection, and flushes each batch to
 * disk once. Statements that arrive meanwhile form the next batch. Each succeeds or fails alone, and resolves after the flush.
 */
export function makeStatementBatches(pool: AccountPool): SendBatched {
  const queues = new Map<string, Waiting[]>();

  const sendAndFlush = async (accounts: string, batch: Waiting[]): Promise<void> => {
    let broken: Error | undefined;
    try {
      const client = await runForAccounts(accounts, () => pool.connect());
      try {
        const [flushed, ...outcomes] = await Promise.allSettled(sendBatch(client, batch));
        if (flushed?.status === 'rejected') throw flushed.reason;
        batch.forEach(({ resolve, reject }, i) => {
          const outcome = outcomes[i] as PromiseSettledResult<pg.QueryResult>;
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
      for (const { reject } of batch) reject(error);
    }
  };

  const serve = async (queue: string, accounts: string, waiting: Waiting[]): Promise<void> => {
    while (waiting.length > 0) await sendAndFlush(accounts, waiting.splice(0, mostInBatch));
    queues.delete(queue);
  };

  return (accounts, name, statement) =>
    new Promise((resolve, reject) => {
      const queue = `${name} ${accounts}`;
      const waiting = queues.get(queue);
      if (waiting) {
        waiting.push({ statement, resolve, reject });
        return;
      }
      const first = [{ statement, resolve, reject }];
      queues.set(queue, first);
      // Waits for requests that arrived in the same event loop turn.
      setImmediate(() => void serve(queue, accounts, first));
    });
}

/** Sends the flush last and returns its promise first. */
function sendBatch(client: pg.PoolClient, batch: Waiting[]): Promise<pg.QueryResult>[] {
  return sendTogether(client, () => {
    const sent = batch.map(({ statement }) => client.query(statement));
    return [client.query({ name: 'flush', text: flushSql }), ...sent];
  });
}
