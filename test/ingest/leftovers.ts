import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { IngestWorld } from './world.ts';

/** What a file that is refused must not leave behind, counted. */
export async function countLeft({ api }: IngestWorld): Promise<Record<string, number>> {
  const { rows } = await api.sql.query<Record<string, number>>(`SELECT
    (SELECT count(*)::int FROM sources) AS sources,
    (SELECT count(*)::int FROM tables) AS tables,
    (SELECT count(*)::int FROM landings) AS landings,
    (SELECT count(*)::int FROM job_drafts) AS "job drafts",
    (SELECT count(*)::int FROM jobs WHERE finished_at IS NULL) AS "unfinished jobs",
    (SELECT count(*)::int FROM structurings WHERE state = 'building') AS claims,
    (SELECT coalesce(sum(amount), 0)::int FROM credit_entries WHERE bucket IN ('reserved', 'spent')) AS credits`);
  return { ...rows[0], 'blob drafts': (await listDrafts(api)).length };
}

export async function listDrafts({ config }: IngestWorld['api']): Promise<string[]> {
  return config.blobs.kind === 'file' ? readdir(join(config.blobs.dir, '.drafts')) : [];
}

/** Runs what is to be refused, and sees to it that nothing stays and the service goes on. */
export async function leavingNothing<T>(world: IngestWorld, work: () => Promise<T>): Promise<T> {
  const before = await countLeft(world);
  const result = await work();
  await expect.poll(() => countLeft(world)).toEqual(before);
  expect((await world.api.fetch('/api/v1/me', { token: world.owner.session })).status).toBe(200);
  return result;
}

export interface Refusal {
  status: number;
  slug: string;
  detail: RegExp;
  fix: RegExp;
}

/** A problem that says what is wrong and what to do. */
export async function expectRefusal(answer: Response, expected: Refusal): Promise<void> {
  const problem = (await answer.json()) as { type: string; detail: string; suggested_fix: string };
  expect([answer.status, problem]).toEqual([
    expected.status,
    expect.objectContaining({
      type: `urn:svc:problem:${expected.slug}`,
      detail: expect.stringMatching(expected.detail),
      suggested_fix: expect.stringMatching(expected.fix),
    }),
  ]);
}
