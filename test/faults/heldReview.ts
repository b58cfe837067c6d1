import { expect } from 'vitest';
import { holdTables } from '../ingest/hold.ts';
import { ok } from '../setup/api.ts';
import type { TestStore } from '../tables/store.ts';
import { makeBook } from '../transforms/world.ts';

/** A review that cannot save its report: its findings are made, and the transaction that ends it has begun. */
export async function makeHeldReview({ owner, api }: Pick<TestStore, 'owner' | 'api'>) {
  const book = await makeBook({ owner, api });
  const people = Array.from({ length: 12 }, (_, k) => ({ name: `Person ${k}`, pay: 1000 + ((k * 377) % 900) }));
  const columns = [
    { name: 'name', type: 'VARCHAR' },
    { name: 'pay', type: 'BIGINT' },
  ];
  await book.table('staff', columns, [...people, ...people.slice(3, 4)]);
  const { sql } = api;
  const hold = await holdTables(sql, book.id);
  const params = { path: { workbook_id: book.id } };
  const begun = ok(await owner.client.POST('/api/v1/workbooks/{workbook_id}/review', { params, body: { save: true, async: true } }));
  const jobId = 'job_id' in begun ? begun.job_id : '';
  return {
    ...hold,
    /** It has ended with one report, and told so once. */
    async expectOnce(): Promise<void> {
      const readJob = async () => ok(await owner.client.GET('/api/v1/jobs/{job_id}', { params: { path: { job_id: jobId } } }));
      await expect.poll(async () => (await readJob()).finished_at !== null, { timeout: 150_000, interval: 250 }).toBe(true);
      expect(await readJob()).toMatchObject({
        status: 'succeeded',
        result: { report: 'workbook_review', findings: [{ rule: 'duplicate-rows' }] },
      });
      const { rows } = await sql.query<{ name: string }>("SELECT name FROM tables WHERE workbook_id = $1 AND type = 'report'", [book.id]);
      expect(rows).toEqual([{ name: 'workbook_review' }]);
      expect(await book.read('workbook_review')).toHaveLength(1);
      expect(await book.events('job.completed')).toHaveLength(1);
    },
  };
}
