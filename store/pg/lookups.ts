import type pg from 'pg';
import { runFor } from './whoseRows.ts';

/**
 * A look-up by one or two texts that requests make on their way, many at the same time. Its text reads the keys from
 * `unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(a, b, n)` and selects `k.n` beside what it finds.
 */
export interface Lookup<Row> {
  name: string;
  text: string;
  /** Only for the type. */
  row?: Row;
}

export type LookUp = <Row>(lookup: Lookup<Row>, a: string, b?: string) => Promise<Row | null>;

interface Waiting {
  a: string;
  b: string;
  resolve(row: unknown): void;
  reject(error: unknown): void;
}

interface Lane {
  key: string;
  accounts: string;
  waiting: Waiting[];
  /** Statements on their way. */
  busy: number;
  planned: boolean;
}

const mostBusy = 2;
const mostKeys = 100;

/**
 * Asks for what came in at the same moment, or while the last answers were on their way, in one statement: under load a
 * round trip serves many requests. `accountsNow` says whose rows a look-up sees; those that see the same go together. Nothing
 * is remembered: a look-up is always sent after it was asked for.
 */
export function makeLookUp(pool: pg.Pool, accountsNow: () => string): LookUp {
  const lanes = new Map<string, Lane>();

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
      const { rows } = await runFor(accounts, () =>
        pool.query<{ n: string }>({
          name: lookup.name,
          text: lookup.text,
          values: [first.map(({ a }) => a), first.map(({ b }) => b)],
        }),
      );
      const found = new Map(rows.map(({ n, ...row }) => [Number(n), row]));
      asked.forEach((same, i) => {
        for (const one of same) one.resolve(found.get(i + 1) ?? null);
      });
    } catch (error) {
      // One key that the database cannot read must not fail the others.
      if (asked.length > 1 && String((error as { code?: string }).code).startsWith('22')) {
        await Promise.all(asked.map((same) => send(lookup, accounts, same)));
        return;
      }
      for (const one of batch) one.reject(error);
    }
  };

  const flush = (lookup: Lookup<unknown>, lane: Lane): void => {
    lane.planned = false;
    if (lane.waiting.length === 0 && lane.busy === 0) lanes.delete(lane.key);
    while (lane.waiting.length > 0 && lane.busy < mostBusy) {
      lane.busy += 1;
      void send(lookup, lane.accounts, lane.waiting.splice(0, mostKeys)).finally(() => {
        lane.busy -= 1;
        flush(lookup, lane);
      });
    }
  };

  return <Row>(lookup: Lookup<Row>, a: string, b = '') => {
    const accounts = accountsNow();
    const key = `${lookup.name} ${accounts}`;
    const lane = lanes.get(key) ?? { key, accounts, waiting: [], busy: 0, planned: false };
    lanes.set(key, lane);
    return new Promise<Row | null>((resolve, reject) => {
      lane.waiting.push({ a, b, resolve: resolve as (row: unknown) => void, reject });
      if (lane.planned || lane.busy >= mostBusy) return;
      lane.planned = true;
      // After the requests that arrived together with this one.
      setImmediate(flush, lookup as Lookup<unknown>, lane);
    });
  };
}
