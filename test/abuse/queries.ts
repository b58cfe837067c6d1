import { type Attack, count, type Outcome } from './attack.ts';
import type { Person } from './world.ts';

/** Many queries at once, and somebody else writes. */
export const burstOfQueries: Attack = {
  name: '300 queries at once',
  habits: ['write', 'query'],
  seconds: { short: 10, full: 60 },
  async prepare(_world, attacker, size) {
    return async () => {
      const outcome: Outcome = new Map();
      const one = (n: number) => ask(attacker, `SELECT count(*) AS n FROM range(${200_000_000 + n}) t(i) WHERE i % 7 = 1`, outcome);
      await Promise.all(Array.from({ length: size === 'full' ? 300 : 40 }, (_, n) => one(n)));
      return outcome;
    };
  },
};

/** A token that may only read stores one large result after the other. */
export const hoardedResults: Attack = {
  name: 'results of 10,000 rows stored one after the other',
  habits: ['read', 'query', 'write'],
  seconds: { short: 4, full: 20 },
  async prepare(_world, attacker) {
    return async (signal) => {
      const outcome: Outcome = new Map();
      for (let n = 0; !signal.aborted; n += 1)
        await ask(attacker, `SELECT i, repeat('x', 2900) || (i + ${n}) AS filler FROM range(10000) t(i)`, outcome, { limit: 10_000 });
      return outcome;
    };
  },
};

async function ask(attacker: Person, sql: string, outcome: Outcome, more: object = {}): Promise<void> {
  const answer = attacker.send('POST', `/api/v1/workbooks/${attacker.workbookId}/query`, { sql, ...more });
  count(
    outcome,
    await answer.then(
      ({ status }) => status,
      (error: Error) => error.message,
    ),
  );
}
