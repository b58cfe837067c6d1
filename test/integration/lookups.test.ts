import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { allAccounts } from '../../store/pg/accountScope.ts';
import { type Lookup, makeLookUpAll, takeOne } from '../../store/pg/lookups.ts';

/** Look-ups that are sent together: each gets its own answer, as of after it was asked for. */

let pool: pg.Pool;
let sent = 0;
const keys: Lookup<{ found: string }> = {
  name: 'test_keys',
  text: `SELECT k.n, f.found FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(a, b, n)
         JOIN pg_temp.known f ON f.id = k.a AND k.b <> 'nobody'`,
};
const numbers: Lookup<{ found: number }> = {
  name: 'test_numbers',
  text: 'SELECT k.n, k.a::integer AS found FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(a, b, n)',
};

beforeAll(async () => {
  // One connection: the table is its own.
  pool = new pg.Pool({ connectionString: inject('postgresUrl'), max: 1 });
  await pool.query('CREATE TEMP TABLE known AS SELECT n::text AS id, $1 || n AS found FROM generate_series(1, 500) n', ['value ']);
  const query = pool.query.bind(pool) as (...args: unknown[]) => unknown;
  pool.query = ((...args: unknown[]) => {
    sent += 1;
    return query(...args);
  }) as typeof pool.query;
});
afterAll(() => pool.end());

describe('makeLookUpAll: look-ups at the same moment', () => {
  it('are answered each with its own, whether found or not, in few statements', async () => {
    const lookUp = takeOne(makeLookUpAll(pool, () => allAccounts));
    sent = 0;
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, i) => lookUp(keys, String((i % 250) + 300), i % 50 === 0 ? 'nobody' : '')),
    );
    answers.forEach((answer, i) => {
      const id = (i % 250) + 300;
      expect(answer?.found).toBe(i % 50 === 0 || id > 500 ? undefined : `value ${id}`);
    });
    expect(sent).toBe(3);
  });

  it('see what was changed before they were asked for, even while an older one is on its way', async () => {
    const lookUp = takeOne(makeLookUpAll(pool, () => allAccounts));
    for (let round = 0; round < 20; round++) {
      const older = lookUp(keys, '7');
      await new Promise((done) => setImmediate(done));
      await pool.query('UPDATE pg_temp.known SET found = $1 WHERE id = $2', [`round ${round}`, '7']);
      expect((await lookUp(keys, '7'))?.found).toBe(`round ${round}`);
      await older;
    }
  });

  it('fail alone when the database cannot read their key', async () => {
    const lookUp = takeOne(makeLookUpAll(pool, () => allAccounts));
    const outcomes = await Promise.allSettled(['1', 'no number', '3', 'a\u0000b'].map((key) => lookUp(numbers, key)));
    expect(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value?.found : 'failed'))).toEqual([
      1,
      'failed',
      3,
      'failed',
    ]);
    expect((await lookUp(numbers, '4'))?.found).toBe(4);
  });
});
