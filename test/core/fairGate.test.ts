import { describe, expect, it } from 'vitest';
import { FairGate } from '../../store/fairGate.ts';

const limits = { slots: 2, leftToOthers: 1, mostWaiting: 100, mostWaitingOfOne: 100 };
const refusal = () => new Error('no room');

/** Runs work that ends when it is told to; tells which has begun. */
function watchGate(changed: Partial<typeof limits> = {}) {
  const gate = new FairGate({ ...limits, ...changed }, refusal);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const enter = (name: string) =>
    gate.run(name[0] as string, async () => {
      begun.push(name);
      await new Promise<void>((done) => ends.set(name, done));
      return name;
    });
  const settle = () => new Promise((done) => setImmediate(done));
  return { begun, enter, settle, end: (name: string) => ends.get(name)?.() };
}

describe('a fair gate', () => {
  it('leaves a slot to others, and gives the next to who has none', async () => {
    const { begun, enter, end, settle } = watchGate();
    const work = ['a1', 'a2', 'a3', 'b1', 'c1'].map(enter);
    await settle();
    expect(begun).toEqual(['a1', 'b1']);
    end('a1');
    await settle();
    expect(begun).toEqual(['a1', 'b1', 'c1']);
    for (const name of ['b1', 'c1', 'a2', 'a3']) {
      end(name);
      await settle();
    }
    expect(await Promise.all(work)).toEqual(['a1', 'a2', 'a3', 'b1', 'c1']);
  });

  it('refuses who brings too many, and goes on after work that failed', async () => {
    const { enter, end, settle } = watchGate({ mostWaitingOfOne: 1 });
    const [first, second, third] = ['a1', 'a2', 'a3'].map(enter);
    await expect(third).rejects.toThrow('no room');
    end('a1');
    await settle();
    end('a2');
    expect([await first, await second]).toEqual(['a1', 'a2']);
    const gate = new FairGate({ ...limits, slots: 1 }, refusal);
    const failing = gate.run('a', async () => {
      throw new Error('failed');
    });
    await expect(failing).rejects.toThrow('failed');
    expect(await gate.run('a', async () => 'next')).toBe('next');
  });
});
