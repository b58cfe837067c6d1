export interface ShareLimits {
  /** How many entries may run at once. */
  slots: number;
  /** Slots that somebody who has one already leaves free, so that one person never holds all of them. */
  leftToOthers: number;
  /** How many entries may wait, of all persons and of one; unset: any number. */
  mostWaiting?: number;
  mostWaitingOfOne?: number;
}

interface Person<T> {
  running: number;
  waiting: T[];
  /** When they were given a slot last, as a running number; 0: not yet. */
  turn: number;
}

/**
 * Shares slots between persons, however many entries each of them brings: whoever runs least is next, and among equals whoever
 * was served longest ago. One person's entries keep their order.
 */
export class FairShares<T> {
  private readonly persons = new Map<string, Person<T>>();
  private readonly limits: Required<ShareLimits>;
  private turns = 0;
  running = 0;
  waiting = 0;

  constructor(limits: ShareLimits) {
    this.limits = { mostWaiting: Number.POSITIVE_INFINITY, mostWaitingOfOne: Number.POSITIVE_INFINITY, ...limits };
  }

  enter(name: string, entry: T): void {
    const person = this.persons.get(name) ?? { running: 0, waiting: [], turn: 0 };
    this.persons.set(name, person);
    person.waiting.push(entry);
    this.waiting += 1;
  }

  /**
   * To be asked after `enter` and `next`: takes out the entry that has no room in the queue. It is the newest of this person if
   * they have too many waiting, else of the person with the most, so that nobody keeps others out. Null: there is room for all.
   */
  takeSurplus(name: string): T | null {
    const person = this.persons.get(name);
    if (person && person.waiting.length > this.limits.mostWaitingOfOne) return this.takeNewest(name, person);
    if (this.waiting <= this.limits.mostWaiting) return null;
    return this.takeNewest(...[...this.persons].reduce((a, b) => (b[1].waiting.length > a[1].waiting.length ? b : a)));
  }

  /** Gives a slot to the next entry. Null: nobody waits, or those who do have to wait on. */
  next(): T | null {
    const { slots, leftToOthers } = this.limits;
    const free = slots - this.running;
    let chosen: Person<T> | null = null;
    for (const person of this.persons.values()) {
      if (person.waiting.length === 0 || free <= (person.running === 0 ? 0 : leftToOthers)) continue;
      if (!chosen || person.running < chosen.running || (person.running === chosen.running && person.turn < chosen.turn)) chosen = person;
    }
    const entry = chosen?.waiting.shift();
    if (!chosen || entry === undefined) return null;
    this.turns += 1;
    chosen.turn = this.turns;
    chosen.running += 1;
    this.running += 1;
    this.waiting -= 1;
    return entry;
  }

  /** Gives back a slot of this person. */
  leave(name: string): void {
    const person = this.persons.get(name);
    if (!person || person.running === 0) throw new Error('a slot was given back that was not taken');
    person.running -= 1;
    this.running -= 1;
    this.forget(name, person);
  }

  /** Takes an entry out of the queue. False: it does not wait any more. */
  remove(name: string, entry: T): boolean {
    const person = this.persons.get(name);
    const index = person?.waiting.indexOf(entry) ?? -1;
    if (!person || index < 0) return false;
    person.waiting.splice(index, 1);
    this.waiting -= 1;
    this.forget(name, person);
    return true;
  }

  /** Empties the queue. */
  removeAll(): T[] {
    const entries = [...this.persons.values()].flatMap((person) => person.waiting.splice(0));
    for (const [name, person] of [...this.persons]) this.forget(name, person);
    this.waiting = 0;
    return entries;
  }

  private takeNewest(name: string, person: Person<T>): T {
    const entry = person.waiting.pop() as T;
    this.waiting -= 1;
    this.forget(name, person);
    return entry;
  }

  private forget(name: string, person: Person<T>): void {
    if (person.running === 0 && person.waiting.length === 0) this.persons.delete(name);
  }
}
