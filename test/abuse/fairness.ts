import { type Attack, type AttackReport, count, type Outcome } from './attack.ts';
import type { Habit } from './bystander.ts';
import { fileForm, type Person, type World } from './world.ts';

/** One person takes as much as they may, of what everybody shares. */

/** As many long queries as one person may run, in accounts of theirs; each that ends is followed by another. */
export const hoardedProcesses: Attack = {
  name: 'as many 60-second queries as one person may run',
  habits: ['query', 'read'],
  seconds: { short: 8, full: 60 },
  async prepare(world, attacker) {
    const workbooks = await openAccounts(attacker, 4);
    return async (signal) => {
      const outcome: Outcome = new Map();
      const body = JSON.stringify({ sql: 'SELECT count(*) AS n FROM range(100000000000000)', timeout_ms: 60_000 });
      const keepAsking = async (workbookId: string) => {
        while (!signal.aborted) {
          const status = await post(world, attacker, `/api/v1/workbooks/${workbookId}/query`, body, signal);
          count(outcome, status);
          // Told that it is too much, it tries again.
          if (status === 429) await new Promise((done) => setTimeout(done, 500));
        }
      };
      await Promise.all(Array.from({ length: 48 }, (_, n) => keepAsking(workbooks[n % workbooks.length] as string)));
      return outcome;
    };
  },
  judgeTimes: (report) => judgeMedian(report, 'query', 1_000),
};

/** Files that wait to be read, in accounts of one person. */
export const hoardedIngests: Attack = {
  name: '176 files of 4.5 MB in the queue',
  habits: ['upload'],
  seconds: { short: 15, full: 90 },
  async prepare(_world, attacker, size) {
    const workbooks = await openAccounts(attacker, 2);
    const files = size === 'full' ? 176 : 24;
    return async (signal) => {
      const outcome: Outcome = new Map();
      let next = 0;
      const sendSome = async () => {
        for (let n = next++; n < files && !signal.aborted; n = next++)
          await sendFile(attacker, workbooks[n % workbooks.length] as string, n, { async: 'true' }, outcome);
      };
      await Promise.all(Array.from({ length: 16 }, sendSome));
      // The queue is worked off meanwhile.
      while (!signal.aborted) await new Promise((done) => setTimeout(done, 100));
      return outcome;
    };
  },
  judgeTimes: (report) => judgeMedian(report, 'upload', 2_000),
};

/** Many uploads in the same moment, into one workbook. */
export const uploadsAtOnce: Attack = {
  name: '200 uploads of 4.5 MB at once',
  habits: ['write', 'upload'],
  seconds: { short: 60, full: 180 },
  async prepare(_world, attacker, size) {
    return async () => {
      const outcome: Outcome = new Map();
      const uploads = Array.from({ length: size === 'full' ? 200 : 30 }, (_, n) =>
        sendFile(attacker, attacker.workbookId, n, { async: 'true', structuring: 'skip' }, outcome),
      );
      await Promise.all(uploads);
      return outcome;
    };
  },
  judge: ({ outcome }) => [...outcome].flatMap(([what, times]) => (what.startsWith('2') ? [] : [`${times} uploads were answered ${what}`])),
};

function judgeMedian({ during }: AttackReport, habit: Habit, mostMs: number): string[] {
  const { p50 = Number.NaN } = during.get(habit) ?? {};
  return p50 <= mostMs ? [] : [`somebody's ${habit} took ${Math.round(p50)} ms at the median, more than ${mostMs}`];
}

/** Workbooks in accounts of their own, all of one person. */
async function openAccounts(person: Person, many: number): Promise<string[]> {
  const make = async (path: string, body: object) => String((await person.send('POST', path, body)).json().id);
  const workbooks = [person.workbookId];
  while (workbooks.length < many) {
    const account = await make('/api/control/accounts', { name: `account ${workbooks.length}` });
    const workspace = await make('/api/control/workspaces', { name: 'more', account_id: account });
    workbooks.push(await make('/api/v1/workbooks', { title: 'more', workspace_id: workspace }));
  }
  return workbooks;
}

/** Made once: whoever measures runs in the same process, and must not wait for it. */
const rowsOfFile = Buffer.from('North,paper,123456789 and more\n'.repeat(150_000));

/** A file of 4.5 MB that no other is equal to. */
function makeFile(n: number): Buffer {
  return Buffer.concat([Buffer.from(`region,item,amount ${n}\n`), rowsOfFile]);
}

async function sendFile(person: Person, workbookId: string, n: number, fields: Record<string, string>, outcome: Outcome): Promise<void> {
  const { body, headers } = fileForm(`file${n}.csv`, makeFile(n), fields);
  const sent = person.send('POST', `/api/v1/workbooks/${workbookId}/sources`, body, headers);
  count(
    outcome,
    await sent.then(
      ({ status }) => status,
      (error: Error) => error.message,
    ),
  );
}

/** The status, or what the connection said. Unlike `send` of a person it leaves when it is told to. */
async function post({ product }: World, person: Person, path: string, body: string, signal: AbortSignal): Promise<number | string> {
  const headers = { Authorization: `Bearer ${person.session}`, 'Content-Type': 'application/json' };
  return fetch(`${product.apiUrl}${path}`, { method: 'POST', headers, body, signal }).then(
    async (response) => {
      await response.arrayBuffer();
      return response.status;
    },
    (error: Error) => (signal.aborted ? 'still running' : error.message),
  );
}
