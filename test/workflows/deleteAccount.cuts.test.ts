import { afterAll, expect, it } from 'vitest';
import { deleteWorkbooks } from '../../activities/accounts/deleteWorkbooks.ts';
import { endAccountWork } from '../../activities/accounts/endAccountWork.ts';
import { forfeitCredits } from '../../activities/accounts/forfeitCredits.ts';
import { removeAccount } from '../../activities/accounts/removeAccount.ts';
import { revokeAccess } from '../../activities/accounts/revokeAccess.ts';
import type { ActivityContext } from '../../activities/activityContext.ts';
import { releaseStuckCredits } from '../../activities/credits/releaseStuckCredits.ts';
import { inAccount } from '../../store/pg/accountScope.ts';
import { ok, startTestApi } from '../setup/api.ts';
import { openDeletions, quiet } from './deletions.ts';

/** The steps of a deletion, each cut off wherever that can happen. */

const api = await startTestApi({ SVC_RATE_LIMITS: 'off', SVC_CREDITS: 'metered' });
afterAll(() => api.stop());
const own = api.running.services;
const { makePlace, askFor, readJob, listIds, fill, expectGone } = openDeletions(api);

type Step = (services: typeof own, jobId: string, activity: ActivityContext) => Promise<unknown>;
const steps: Step[] = [revokeAccess, endAccountWork, deleteWorkbooks, forfeitCredits, removeAccount];

/** Says how it went, which is `cut off` after so many heartbeats. */
function run(step: Step, job: { id: string; accountId: string }, beats = Number.POSITIVE_INFINITY): Promise<string> {
  let left = beats;
  const heartbeat = () => {
    left -= 1;
    if (left < 0) throw new Error('cut off');
  };
  return inAccount(job.accountId, () => step(own, job.id, { heartbeat })).then(
    () => 'done',
    (error: Error) => error.message,
  );
}

it('goes on where it was cut off, at every batch, and may be run again as a whole', async () => {
  const owner = await api.signUp();
  const place = await makePlace(owner, 'Portal');
  await fill(place.accountId);
  const ids = await listIds(place.accountId);
  const { job_id: jobId } = ok(await askFor(owner, place));
  const defaultId = ok(await owner.client.GET('/api/v1/me')).account_id;
  const job = { id: jobId, accountId: defaultId };
  let cuts = 0;
  for (const step of steps) {
    for (let left = 0; ; left += 1) {
      const outcome = await run(step, job, left);
      if (outcome === 'done') break;
      expect(outcome).toBe('cut off');
      cuts += 1;
    }
    expect(await run(step, job)).toBe('done');
  }
  expect(cuts).toBeGreaterThan(50);
  for (const step of steps) expect(await run(step, job)).toBe('done');
  expect(await readJob(owner, jobId)).toMatchObject({ status: 'succeeded' });
  await expectGone(place.accountId, [...ids, `_of_${place.accountId}`]);
}, 240_000);

it('closes books of any length in batches, before the transaction that ends the job', async () => {
  const owner = await api.signUp();
  const place = await makePlace(owner, 'Portal');
  const { accountId } = place;
  // Bought one by one, and one is held by a job that is over.
  await api.sql.query(
    `WITH bought AS (INSERT INTO credit_movements (account_id, key, kind, at) SELECT $1, 'purchase:' || n, 'purchase', now() FROM generate_series(1, 4100) n)
     INSERT INTO credit_entries (account_id, key, source, ends, bucket, amount, at)
     SELECT $1, 'purchase:' || n, 'purchased', 999912, bucket, CASE bucket WHEN 'issued' THEN -1 ELSE 1 END, now()
     FROM generate_series(1, 4100) n, unnest(ARRAY['issued', 'available']) bucket`,
    [accountId],
  );
  await api.sql.query(
    `WITH held AS (INSERT INTO credit_movements (account_id, key, kind, ref, at) VALUES ($1, 'reserve:job_over', 'reserve', 'job_over', now() - interval '2 hours'))
     INSERT INTO credit_entries (account_id, key, source, ends, bucket, amount, at)
     VALUES ($1, 'reserve:job_over', 'purchased', 999912, 'available', -1, now()), ($1, 'reserve:job_over', 'purchased', 999912, 'reserved', 1, now())`,
    [accountId],
  );
  const { job_id: id } = ok(await askFor(owner, place));
  const job = { id, accountId: ok(await owner.client.GET('/api/v1/me')).account_id };
  for (const step of steps.slice(0, -1)) expect(await run(step, job)).toBe('done');
  // What was forfeited is not given back.
  expect(await releaseStuckCredits(api.services, quiet.heartbeat)).toBe(0);
  const lengths = new Set<number>();
  for (let beats = 0, outcome = 'cut off'; outcome === 'cut off'; beats += 1) {
    const { rows } = await api.sql.query<{ n: number }>('SELECT count(*)::int AS n FROM credit_movements WHERE account_id = $1', [
      accountId,
    ]);
    lengths.add(rows[0]?.n ?? 0);
    outcome = await run(removeAccount, job, beats);
  }
  expect([...lengths]).toEqual([4102, 102]);
  expect(await readJob(owner, id)).toMatchObject({ status: 'succeeded' });
  const { rows } = await api.sql.query("SELECT detail FROM audit_entries WHERE target = $1 AND action = 'account.deleted'", [accountId]);
  expect(rows).toEqual([{ detail: { credits_forfeited: 4100 } }]);
});
