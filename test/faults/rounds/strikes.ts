import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Installation, type PartName, parts } from './installation.ts';

/** Something that happens to the service. Says what it was when it is over. */
export type Strike = (installation: Installation) => Promise<string>;

/** Parts are killed: one of them, seldom two or all. */
export const kills = (round: number): Strike => {
  const count = round % 25 === 24 ? parts.length : round % 6 === 5 ? 2 : 1;
  return async ({ kill, mayDie }) => {
    let mortal = parts.filter(mayDie);
    for (; mortal.length === 0; mortal = parts.filter(mayDie)) await delay(500);
    const chosen = shuffle(mortal).slice(0, count);
    for (const name of chosen) {
      kill(name);
      // Not all in the same moment: one may be starting when the next goes.
      await delay(randomInt(0, 300));
    }
    return `kill -9 of ${chosen.join(', ')}`;
  };
};

export const isAway =
  (name: PartName, seconds: number): Strike =>
  async ({ keepAway }) => {
    await keepAway(name, seconds * 1000);
    return `${name} away for ${seconds} seconds`;
  };

function shuffle<T>(items: T[]): T[] {
  return items
    .map((item) => ({ item, order: randomInt(0, 1_000_000) }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}
