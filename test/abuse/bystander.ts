import { setTimeout as delay } from 'node:timers/promises';
import { fileForm, type Person } from './world.ts';

/** What somebody else does while the service is attacked. */
export interface Bystander {
  person: Person;
  ask: Record<Habit, () => Promise<number>>;
}

export const habits = ['read', 'query', 'write', 'upload', 'export'] as const;
export type Habit = (typeof habits)[number];

export interface Latencies {
  count: number;
  p50: number;
  p95: number;
  worst: number;
  /** Everything but 2xx: the status, or what the connection said. */
  failures: string[];
}

/** Makes a small table and gives small things to do with it. Each returns the status. */
export async function makeBystander(person: Person): Promise<Bystander> {
  const tables = `/api/v1/workbooks/${person.workbookId}/tables`;
  const columns = [
    { name: 'item', type: 'VARCHAR' },
    { name: 'amount', type: 'BIGINT' },
  ];
  const made = await person.send('POST', tables, { name: 'ledger', columns });
  if (made.status !== 201) throw new Error(`no table: ${made.body}`);
  let uploads = 0;
  const row = () => ({ expected_version: null, rows: [{ item: 'paper', amount: 12 }] });
  const ask: Bystander['ask'] = {
    read: async () => (await person.send('GET', `${tables}/ledger/rows?limit=10`)).status,
    query: async () =>
      (await person.send('POST', `/api/v1/workbooks/${person.workbookId}/query`, { sql: 'SELECT sum(amount) AS total FROM ledger' }))
        .status,
    write: async () => (await person.send('POST', `${tables}/ledger/rows`, row())).status,
    async upload() {
      uploads += 1;
      const { body, headers } = fileForm(`stock${uploads}.csv`, Buffer.from(`region,amount\nNorth,${uploads}\nSouth,2\n`));
      return (await person.send('POST', `/api/v1/workbooks/${person.workbookId}/sources`, body, headers)).status;
    },
    export: async () =>
      (await person.send('POST', `/api/v1/workbooks/${person.workbookId}/export`, { tables: ['ledger'], format: 'xlsx' })).status,
  };
  await ask.write();
  return { person, ask };
}

/** Asks again and again, with a pause, until told to stop; the last answer is waited for. */
export function watch({ ask }: Bystander, habit: Habit, pauseMs: number): { stop(): Promise<Latencies> } {
  const times: number[] = [];
  const failures: string[] = [];
  const done = new AbortController();
  const loop = (async () => {
    while (!done.signal.aborted) {
      const began = performance.now();
      const status = await ask[habit]().catch((error: Error) => error.message);
      times.push(performance.now() - began);
      if (typeof status === 'string' || status >= 300) failures.push(`${habit}: ${status}`);
      await delay(pauseMs, undefined, { signal: done.signal }).catch(() => {});
    }
  })();
  return {
    async stop() {
      done.abort();
      await loop;
      return summarize(times, failures);
    },
  };
}

export function summarize(times: number[], failures: string[] = []): Latencies {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { count: sorted.length, p50: at(0.5), p95: at(0.95), worst: at(1), failures };
}
