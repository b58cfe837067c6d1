import { randomInt } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { type Bystander, type Habit, makeBystander } from '../abuse/bystander.ts';
import type { World } from '../abuse/world.ts';

/** One request of somebody. */
export interface Asked {
  habit: Habit;
  /** Milliseconds since the work began. */
  at: number;
  ms: number;
  /** The status, or what the connection said. */
  status: number | string;
}

/** What people do, of a hundred times. */
const shares: [Habit, number][] = [
  ['write', 40],
  ['query', 30],
  ['read', 20],
  ['export', 6],
  ['upload', 4],
];

/** People with an account and a table each. */
export async function gatherPeople(world: World, many: number, rows: number): Promise<Bystander[]> {
  const people: Bystander[] = [];
  while (people.length < many) {
    const bystander = await makeBystander(await world.addPerson('worker'));
    const { person } = bystander;
    const items = Array.from({ length: rows }, (_, n) => ({ item: `item ${n % 50}`, amount: n }));
    await person.send('POST', `/api/v1/workbooks/${person.workbookId}/tables/ledger/rows`, { expected_version: null, rows: items });
    people.push(bystander);
  }
  return people;
}

/** Everybody works, one thing at a time with pauses between, until the signal. */
export async function letWork(people: Bystander[], pauseMs: number, signal: AbortSignal, note: (asked: Asked) => void): Promise<void> {
  const began = performance.now();
  // Everybody listens to it.
  setMaxListeners(0, signal);
  await Promise.all(
    people.map(async ({ ask }) => {
      // Not all of them in the same moment.
      await rest(randomInt(0, 2 * pauseMs), signal);
      while (!signal.aborted) {
        const habit = pickHabit();
        const at = performance.now() - began;
        const status = await ask[habit]().catch((error: Error) => error.message);
        note({ habit, at, ms: performance.now() - began - at, status });
        await rest(randomInt(0, 2 * pauseMs), signal);
      }
    }),
  );
}

const rest = (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal }).catch(() => {});

function pickHabit(): Habit {
  let left = randomInt(0, 100);
  for (const [habit, share] of shares) {
    if (left < share) return habit;
    left -= share;
  }
  return 'read';
}
