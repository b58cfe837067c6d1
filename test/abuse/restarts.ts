import { setTimeout as delay } from 'node:timers/promises';
import { readProcesses } from '../faults/product.ts';
import type { World } from './world.ts';

export interface Return {
  part: string;
  /** Until the API answers a request of a signed-in person again; and until everything says it is ready. */
  answersMs: number;
  readyMs: number;
}

/** Kills a part, or all of them, the hard way and measures how long people wait. */
export async function measureReturn(world: World, session: string, parts: string[]): Promise<Return> {
  const processes = readProcesses(world.product);
  const killed = parts.map((part) => processes.get(part)).filter((each) => each !== undefined);
  const began = performance.now();
  for (const { pid } of killed) process.kill(pid, 'SIGKILL');
  const url = world.product.apiUrl;
  const answers = waitFor(async () => {
    const answer = await fetch(`${url}/api/v1/me`, { headers: { Authorization: `Bearer ${session}` }, signal: AbortSignal.timeout(2_000) });
    return answer.status === 200;
  });
  const ready = waitFor(async () => {
    const restarted = killed.every(({ name, pid }) => readProcesses(world.product).get(name)?.pid !== pid);
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) });
    const said = (await answer.json()) as { status?: string; notices?: unknown[] };
    return restarted && answer.status === 200 && !said.notices?.length;
  });
  const answeredAt = answers.then(() => performance.now());
  await ready;
  const readyMs = performance.now() - began;
  return { part: parts.join(' and '), answersMs: (await answeredAt) - began, readyMs };
}

async function waitFor(check: () => Promise<boolean>): Promise<void> {
  for (const untilMs = Date.now() + 60_000; Date.now() < untilMs; await delay(20)) if (await check().catch(() => false)) return;
  throw new Error('it did not come back within a minute');
}
