import { setTimeout as delay } from 'node:timers/promises';

interface Person {
  active: number;
  waiting: (() => void)[];
  seenMs: number;
}

/** Requests of one person that are under way at the same time while others ask, too. */
const mostActive = 4;
/** Longer than a quick request takes: who has slow ones under way can still ask something quick. */
const patienceMs = 250;
const refusalMs = 100;
/** A person who asked so short a time ago is there. */
const presenceMs = 2_000;

/**
 * Lets the requests of one person wait for each other while other persons are there. Everybody's requests are answered by turns of
 * one event loop: without this, who sends dozens at once takes nearly all of the turns. Who is alone waits for nobody.
 */
export class Turns {
  private readonly people = new Map<string, Person>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Resolves when the request may go on; then `leave` is to be called when it is over. */
  async enter(userId: string): Promise<void> {
    const person = this.people.get(userId) ?? { active: 0, waiting: [], seenMs: 0 };
    person.seenMs = this.now();
    // The last are those who asked last.
    this.people.delete(userId);
    this.people.set(userId, person);
    this.forgetAbsent();
    if (person.active >= mostActive && this.people.size > 1) await waitForTurn(person);
    person.active += 1;
  }

  leave(userId: string): void {
    const person = this.people.get(userId);
    if (!person) return;
    person.active -= 1;
    person.waiting.shift()?.();
  }

  /** Who sends on though they are refused is answered slowly: to refuse costs nearly as much as to answer. */
  async slowDown(userId: string): Promise<void> {
    if ((this.people.get(userId)?.active ?? 0) >= mostActive) await delay(refusalMs);
  }

  private forgetAbsent(): void {
    for (const [userId, { active, waiting, seenMs }] of this.people) {
      if (this.now() - seenMs < presenceMs) return;
      if (active === 0 && waiting.length === 0) this.people.delete(userId);
    }
  }
}

function waitForTurn(person: Person): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      person.waiting.splice(person.waiting.indexOf(go), 1);
      resolve();
    }, patienceMs);
    person.waiting.push(go);
  });
}
