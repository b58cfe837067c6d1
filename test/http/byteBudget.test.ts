import { describe, expect, it } from 'vitest';
import { ByteBudget, work } from '../../api/http/byteBudget.ts';

const mib = 1024 * 1024;
const limits = { processBytes: 100 * mib, callerBytes: 60 * mib };
const open = (patienceMs = 600_000) => new ByteBudget(limits, { ...work, patienceMs });

/** Takes room and writes down when it has it. */
function take(budget: ByteBudget, caller: string, size: number, log: string[]) {
  const room = budget.open(caller);
  const had = room.take(size * mib).then(() => void log.push(`${caller} ${size}`));
  return { room, had };
}

const settled = () => new Promise((done) => setImmediate(done));

describe('a budget of bytes', () => {
  it('gives what there is, and lets the others wait for it', async () => {
    const [budget, log] = [open(), [] as string[]];
    const first = take(budget, 'a', 50, log);
    const second = take(budget, 'b', 50, log);
    const third = take(budget, 'c', 50, log);
    await settled();
    expect(log).toEqual(['a 50', 'b 50']);
    second.room.release();
    await third.had;
    expect(log.at(-1)).toBe('c 50');
    first.room.release();
  });

  it('gives one request as much as it needs, if nothing else is held', async () => {
    const [budget, log] = [open(), [] as string[]];
    await take(budget, 'a', 500, log).had;
    expect(log).toEqual(['a 500']);
  });

  it('gives those who hold least first; one who waits for himself stops nobody', async () => {
    const [budget, log] = [open(), [] as string[]];
    const held = [take(budget, 'a', 50, log), take(budget, 'b', 40, log)];
    take(budget, 'a', 50, log);
    take(budget, 'b', 20, log);
    take(budget, 'c', 20, log);
    await settled();
    expect(log).toEqual(['a 50', 'b 40']);
    held[0]?.room.release();
    await settled();
    expect(log.slice(2)).toEqual(['a 50']);
    held[1]?.room.release();
    await settled();
    expect(log.slice(3).sort()).toEqual(['b 20', 'c 20']);
  });

  it('lets who needs little pass, but not who needs much', async () => {
    const [budget, log] = [open(), [] as string[]];
    const held = take(budget, 'a', 60, log);
    take(budget, 'b', 50, log);
    take(budget, 'c', 10, log);
    await take(budget, 'd', 1, log).had;
    expect(log).toEqual(['a 60', 'd 1']);
    held.room.release();
    await settled();
    expect(log.slice(2).sort()).toEqual(['b 50', 'c 10']);
  });

  it('does not stop a request by what it has itself, nor by those who wait for more as well', async () => {
    const [budget, log] = [open(), [] as string[]];
    const rooms = [budget.open('a'), budget.open('a')];
    for (const room of rooms) await room.take(20 * mib);
    const more = rooms.map((room, i) => room.take(300 * mib).then(() => void log.push(`${i}`)));
    await more[0];
    expect(log).toEqual(['0']);
    rooms[0]?.release();
    await more[1];
    expect(log).toEqual(['0', '1']);
  });

  it.each([
    ['rate-limited', 'a'],
    ['unavailable', 'b'],
  ])('refuses after a while, as %s', async (code, caller) => {
    const [budget, log] = [open(1), [] as string[]];
    await take(budget, 'a', 60, log).had;
    await expect(take(budget, caller, 50, log).had).rejects.toMatchObject({ code, extras: { headers: { 'Retry-After': '2' } } });
  });
});
