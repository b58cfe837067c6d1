import { setImmediate as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Turns } from '../../api/http/turns.ts';

// A busy machine lets no time pass between two steps of a test.
beforeAll(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterAll(() => void vi.useRealTimers());

/** Enters so many times; what was let in is counted. */
async function enter(turns: Turns, userId: string, times: number): Promise<{ entered: number }> {
  const count = { entered: 0 };
  for (let i = 0; i < times; i += 1)
    void turns.enter(userId).then(() => {
      count.entered += 1;
    });
  await pause();
  return count;
}

it('who is alone waits for nobody', async () => {
  expect(await enter(new Turns(), 'flooder', 30)).toEqual({ entered: 30 });
});

it('while others are there, the requests of one person wait for each other, and end in the order in which they came', async () => {
  const turns = new Turns(() => 0);
  expect(await enter(turns, 'somebody', 1)).toEqual({ entered: 1 });
  turns.leave('somebody');
  const flood = await enter(turns, 'flooder', 30);
  expect(flood).toEqual({ entered: 4 });
  expect(await enter(turns, 'somebody', 3)).toEqual({ entered: 3 });
  for (let i = 1; i <= 5; i += 1) {
    turns.leave('flooder');
    await pause();
    expect(flood.entered).toBe(4 + i);
  }
});

it('nobody is there for long after the last request', async () => {
  let nowMs = 0;
  const turns = new Turns(() => nowMs);
  await enter(turns, 'somebody', 1);
  turns.leave('somebody');
  nowMs = 5_000;
  expect(await enter(turns, 'flooder', 30)).toEqual({ entered: 30 });
});

it('who has slow requests under way is let in a little later', async () => {
  const turns = new Turns();
  await enter(turns, 'somebody', 1);
  const slow = await enter(turns, 'busy', 6);
  expect(slow).toEqual({ entered: 4 });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(slow.entered).toBe(6);
});
