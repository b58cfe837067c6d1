import { expect } from 'vitest';
import type { components } from '../../schema/contract.ts';
import { ok } from '../setup/api.ts';
import type { TestStore } from '../tables/store.ts';
import { makeBook } from '../transforms/world.ts';

const length = 10;

/** t0 → t1 → …: each is one more than the one before it. */
export async function makeDerivedChain(world: Pick<TestStore, 'owner' | 'api'>) {
  const book = await makeBook(world);
  const { sql } = world.api;
  await book.table('t0', [{ name: 'n', type: 'BIGINT' }], [{ n: 0 }]);
  for (let i = 1; i <= length; i += 1)
    await book.create({ name: `t${i}`, template: 'SELECT n + 1 AS n FROM {{ t }}', args: { t: `t${i - 1}` } });
  const countRuns = async () => (await sql.query("SELECT 1 FROM ops WHERE scope = $1 AND kind = 'transform.run'", [book.id])).rowCount ?? 0;
  const listJobs = async () =>
    (
      await sql.query<{ id: string; over: boolean }>(
        "SELECT id, finished_at IS NOT NULL AS over FROM jobs WHERE workbook_id = $1 AND kind = 'recompute'",
        [book.id],
      )
    ).rows;
  let edits = 0;
  return {
    /** Makes all of them stale, and asks for them to be made again, without waiting for that. */
    async begin(): Promise<void> {
      edits += 1;
      await book.edit('t0', [{ __svc_row_id: 1, n: edits * 1000 }]);
      book.tryRecompute().catch(() => {});
      await expect.poll(async () => (await listJobs()).some(({ over }) => !over)).toBe(true);
    },
    /** Every job has ended, every run is told of once, and no edit is lost. */
    async expectOnce(): Promise<void> {
      await expect.poll(async () => (await listJobs()).every(({ over }) => over), { timeout: 150_000, interval: 250 }).toBe(true);
      let told = 0;
      for (const { id } of await listJobs()) {
        const job = ok(await world.owner.client.GET('/api/v1/jobs/{job_id}', { params: { path: { job_id: id } } }));
        const { recomputed, failed } = (job as { result: components['schemas']['RecomputeResponse'] }).result;
        expect([job.status, failed]).toEqual(['succeeded', []]);
        told += recomputed.length;
      }
      expect(await countRuns()).toBe(length + told);
      expect(
        (await sql.query('SELECT 1 FROM job_drafts d JOIN jobs j ON j.id = d.job_id WHERE j.workbook_id = $1', [book.id])).rowCount,
      ).toBe(0);
      await book.recompute();
      expect(await book.stale()).toEqual([]);
      expect(await book.read(`t${length}`)).toMatchObject([{ n: edits * 1000 + length }]);
    },
  };
}
