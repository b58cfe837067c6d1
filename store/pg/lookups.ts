import type pg from 'pg';
import { acrossAccounts } from './whoseRows.ts';

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
  waiting: Waiting[];
  /** Statements on their way. */
  busy: number;
  planned: boolean;
}

const mostBusy = 2;
const mostKeys = 100;

/**
 * Asks for what came in at the same moment, or while the last answers were on their way, in one statement: under load a
 * round trip serves many requests, of any accounts. Nothing is remembered: a look-up is always sent after it was asked for.
 */
export function makeLookUp(pool: pg.Pool): LookUp {
  const lanes = new Map<string, Lane>();

  const send = async (lookup: Lookup<unknown>, batch: Waiting[]): Promise<void> => {
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
      const { rows } = await acrossAccounts(() =>
        pool.query<{ n: string }>({
          name: lookup.name,
          text: lookup.text,
          values: [first.map(({ a }) => a), first.map(({ b }) => b)],
        }),
      );
      const found = new Map(rows.map((row) => [Number(row.n), row]));
      asked.forEach((same, i) => {
        for (const one of same) one.resolve(found.get(i + 1) ?? null);
      });
    } catch (error) {
      // One key that the database cannot read must not fail the others.
      if (asked.length > 1 && String((error as { code?: string }).code).startsWith('22')) {
        await Promise.all(asked.map((same) => send(lookup, same)));
        return;
      }
      for (const one of batch) one.reject(error);
    }
  };

  const flush = (lookup: Lookup<unknown>, lane: Lane): void => {
    lane.planned = false;
    while (lane.waiting.length > 0 && lane.busy < mostBusy) {
      lane.busy += 1;
      void send(lookup, lane.waiting.splice(0, mostKeys)).finally(() => {
        lane.busy -= 1;
        flush(lookup, lane);
      });
    }
  };

  return <Row>(lookup: Lookup<Row>, a: string, b = '') => {
    let lane = lanes.get(lookup.name);
    if (!lane) {
      lane = { waiting: [], busy: 0, planned: false };
      lanes.set(lookup.name, lane);
    }
    const mine = lane;
    return new Promise<Row | null>((resolve, reject) => {
      mine.waiting.push({ a, b, resolve: resolve as (row: unknown) => void, reject });
      if (mine.planned || mine.busy >= mostBusy) return;
      mine.planned = true;
      // After the requests that arrived together with this one.
      setImmediate(flush, lookup as Lookup<unknown>, mine);
    });
  };
}
