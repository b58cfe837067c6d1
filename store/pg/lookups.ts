import type pg from 'pg';
import { runForAccounts } from './accountScope.ts';

/** A look-up by one or two keys that can be batched. */
export interface Lookup<Row> {
  name: string;
  /** Reads the keys from `unnest($1::text[], $2::text[])` and selects the number of the key, `n`, with each row. */
  text: string;
  /** Only for the type. */
  row?: Row;
}

/**
 * `each` selects what there is for one key, `k.a` and `k.b`. PostgreSQL runs it key by key, for which OFFSET 0 stands: a plain join
 * it may turn round, and read the rows of all accounts. `also` are further columns of `k`, worked out from `a` and `b`: row
 * security lets only plain equality use an index.
 */
export function defineLookup<Row>(name: string, each: string, also: string[] = []): Lookup<Row> {
  const keys = `SELECT ${['a', 'b', 'n', ...also].join(', ')} FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(a, b, n) OFFSET 0`;
  return { name, text: `SELECT k.n, found.* FROM (${keys}) AS k CROSS JOIN LATERAL (${each} OFFSET 0) AS found` };
}

/** All rows that the look-up finds. */
export type LookUpAll = <Row>(lookup: Lookup<Row>, a: string, b?: string) => Promise<Row[]>;
/** The only one. */
export type LookUp = <Row>(lookup: Lookup<Row>, a: string, b?: string) => Promise<Row | null>;

interface Waiting {
  a: string;
  b: string;
  resolve(rows: unknown[]): void;
  reject(error: unknown): void;
}

interface Queue {
  key: string;
  accounts: string;
  waiting: Waiting[];
  /** Statements sent and not answered yet. */
  busy: number;
  planned: boolean;
}

const mostBusy = 1;
const mostKeys = 100;

/**
 * Batches look-ups that arrive at the same moment, or while earlier statements are under way, into one statement, so that
 * under load a round trip serves many requests. `accountsNow` returns the accounts whose rows a look-up sees; look-ups with
 * the same accounts are batched. Nothing is cached: a statement is always sent after the call.
 */
export function makeLookUpAll(pool: pg.Pool, accountsNow: () => string): LookUpAll {
  const queues = new Map<string, Queue>();

  const send = async (lookup: Lookup<unknown>, accounts: string, batch: Waiting[]): Promise<void> => {
    const keys = new Map<string, Waiting[]>();
    for (const one of batch) {
      const key = `${one.a}\n${one.b}`;
      const same = keys.get(key);
      if (same) same.push(one);
      else keys.set(key, [one]);
    }
    const asked = [...keys.values()];
    const first = asked.map((same) => same[0] as Waiting);
    try {
      const { rows } = await runForAccounts(accounts, () =>
        pool.query<{ n: string }>({
          name: lookup.name,
          text: lookup.text,
          values: [first.map(({ a }) => a), first.map(({ b }) => b)],
        }),
      );
      const found = asked.map((): unknown[] => []);
      for (const { n, ...row } of rows) found[Number(n) - 1]?.push(row);
      asked.forEach((same, i) => {
        for (const one of same) one.resolve(found[i] as unknown[]);
      });
    } catch (error) {
      // A key that PostgreSQL rejects (class 22, data exception) must not fail the others.
      if (asked.length > 1 && String((error as { code?: string }).code).startsWith('22')) {
        await Promise.all(asked.map((same) => send(lookup, accounts, same)));
        return;
      }
      for (const one of batch) one.reject(error);
    }
  };

  const flush = (lookup: Lookup<unknown>, queue: Queue): void => {
    queue.planned = false;
    if (queue.waiting.length === 0 && queue.busy === 0) queues.delete(queue.key);
    while (queue.waiting.length > 0 && queue.busy < mostBusy) {
      queue.busy += 1;
      void send(lookup, queue.accounts, queue.waiting.splice(0, mostKeys)).finally(() => {
        queue.busy -= 1;
        flush(lookup, queue);
      });
    }
  };

  return <Row>(lookup: Lookup<Row>, a: string, b = '') => {
    const accounts = accountsNow();
    const key = `${lookup.name} ${accounts}`;
    const queue = queues.get(key) ?? { key, accounts, waiting: [], busy: 0, planned: false };
    queues.set(key, queue);
    return new Promise<Row[]>((resolve, reject) => {
      queue.waiting.push({ a, b, resolve: resolve as (rows: unknown[]) => void, reject });
      if (queue.planned || queue.busy >= mostBusy) return;
      queue.planned = true;
      // Waits for requests that arrived in the same event loop turn.
      setImmediate(flush, lookup as Lookup<unknown>, queue);
    });
  };
}

export const takeOne =
  (lookUpAll: LookUpAll): LookUp =>
  async (lookup, a, b) =>
    (await lookUpAll(lookup, a, b))[0] ?? null;
