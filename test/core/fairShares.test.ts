import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairShares, type ShareLimits } from '../../core/scheduling/fairShares.ts';

const limits: ShareLimits = { slots: 3, leftToOthers: 1, mostWaiting: 1000, mostWaitingOfOne: 1000 };

/** Enters what each letter names, then takes slots until none is given. */
function fill(given: string, changed: Partial<ShareLimits> = {}) {
  const shares = new FairShares<string>({ ...limits, ...changed });
  for (const [i, person] of [...given].entries()) shares.enter(person, `${person}${i}`);
  const run = () => {
    const started: string[] = [];
    for (let entry = shares.next(); entry !== null; entry = shares.next()) started.push(entry);
    return started.join(' ');
  };
  return { shares, run };
}

describe('fair shares', () => {
  it.each([
    ['nobody waits', '', 3, ''],
    ['one person, who leaves a slot to others', 'aaaa', 3, 'a0 a1'],
    ['one person and two slots', 'aaaa', 2, 'a0'],
    ['one slot has to do for everybody', 'aab', 1, 'a0'],
    ['the last slot is for somebody who has none', 'aaaab', 3, 'a0 b4'],
    ['two persons share three slots', 'aaabbb', 3, 'a0 b3'],
    ['a third person takes the last slot', 'aaabbbc', 3, 'a0 b3 c6'],
    ['whoever runs least is next', 'aaaaaab', 5, 'a0 b6 a1 a2'],
  ])('%s', (_, given, slots, started) => {
    expect(fill(given, { slots }).run()).toBe(started);
  });

  it('serves persons in turn, however many entries one of them has', () => {
    const { shares } = fill(`${'h'.repeat(60)}abcde`, { slots: 1 });
    const order: string[] = [];
    for (let entry = shares.next(); entry !== null; entry = shares.next()) {
      order.push(entry[0] as string);
      shares.leave(entry[0] as string);
    }
    expect(order.length).toBe(65);
    for (const stranger of 'abcde') expect(order.indexOf(stranger)).toBeLessThan(10);
  });

  it('refuses the newest of who has most waiting, and of who has too many', () => {
    const { shares } = fill('aaab', { slots: 1, mostWaiting: 4, mostWaitingOfOne: 3 });
    expect(shares.takeSurplus('b')).toBeNull();
    shares.enter('c', 'c4');
    expect(shares.takeSurplus('c')).toBe('a2');
    shares.enter('a', 'a5');
    shares.enter('a', 'a6');
    expect(shares.takeSurplus('a')).toBe('a6');
  });

  it('forgets entries that are taken out', () => {
    const { shares, run } = fill('ab', { slots: 2 });
    expect([shares.remove('a', 'a0'), shares.remove('a', 'a0'), shares.waiting]).toEqual([true, false, 1]);
    expect([run(), shares.remove('b', 'b1')]).toEqual(['b1', false]);
    shares.leave('b');
    expect(() => shares.leave('b')).toThrow('not taken');
    shares.enter('c', 'c2');
    expect([shares.removeAll(), shares.waiting, run()]).toEqual([['c2'], 0, '']);
  });
});

type Step = { kind: 'enter' | 'leave' | 'remove'; person: string; pick: number };

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom<Step['kind']>('enter', 'enter', 'leave', 'remove'),
    person: fc.constantFrom('a', 'b', 'c', 'd'),
    pick: fc.nat(9),
  }),
  { maxLength: 80 },
);

describe('fair shares, after any steps', () => {
  it('no slot is idle without need, nobody holds all, nobody is passed over, entries keep their order', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 6 }), steps, (slots, mostWaitingOfOne, given) => {
        const shares = new FairShares<string>({ slots, leftToOthers: 1, mostWaiting: 12, mostWaitingOfOne });
        const waiting = new Map<string, string[]>();
        const running = new Map<string, number>();
        const runs = (person: string) => running.get(person) ?? 0;
        const queue = (person: string) => waiting.get(person) ?? [];
        const inAll = () => [...running.values()].reduce((sum, n) => sum + n, 0);
        const start = () => {
          for (let entry = shares.next(); entry !== null; entry = shares.next()) {
            const person = entry[0] as string;
            expect(queue(person).shift()).toBe(entry);
            // Whoever runs less and waits would have come first.
            for (const [other, left] of waiting) if (left.length > 0) expect(runs(other)).toBeGreaterThanOrEqual(runs(person));
            running.set(person, runs(person) + 1);
          }
          const free = slots - inAll();
          expect(free).toBeGreaterThanOrEqual(0);
          for (const [person, left] of waiting) if (left.length > 0) expect(free).toBeLessThanOrEqual(runs(person) === 0 ? 0 : 1);
          if (slots > 1) for (const person of running.keys()) expect(runs(person)).toBeLessThan(slots);
        };
        for (const [i, { kind, person, pick }] of given.entries()) {
          if (kind === 'enter') {
            const entry = `${person}${i}`;
            waiting.set(person, [...queue(person), entry]);
            shares.enter(person, entry);
            start();
            const most = Math.max(...[...waiting.values()].map((left) => left.length));
            const refused = shares.takeSurplus(person);
            if (refused) {
              const owner = refused[0] as string;
              expect(queue(owner).length).toBe(queue(person).length > mostWaitingOfOne ? queue(person).length : most);
              expect(queue(owner).pop()).toBe(refused);
            }
          } else if (kind === 'leave' && runs(person) > 0) {
            shares.leave(person);
            running.set(person, runs(person) - 1);
            start();
          } else if (kind === 'remove') {
            const entry = queue(person)[pick];
            expect(shares.remove(person, entry ?? 'none')).toBe(entry !== undefined);
            waiting.set(
              person,
              queue(person).filter((each) => each !== entry),
            );
          }
          expect([shares.running, shares.waiting]).toEqual([inAll(), [...waiting.values()].flat().length]);
          expect(shares.waiting).toBeLessThanOrEqual(12);
        }
      }),
    );
  });
});
