import { DomainError } from '../../core/errors.ts';

/** What an answer costs while it is sent, whether anybody reads it or not. */
export const sentBytes = 1024 * 1024;

const retryAfterSeconds = '2';

interface Limits {
  processBytes: number;
  callerBytes: number;
}

/** What the bytes are of, in the words of its refusals. */
export interface BudgetUse {
  /** How long a request waits for room before it is refused. */
  patienceMs: number;
  /** Of those who hold too much themselves. */
  own(heldKib: number): { detail: string; suggestedFix: string };
  /** Of those who find that all others together do. */
  all: { detail: string; suggestedFix: string };
}

export const answers: BudgetUse = {
  patienceMs: 2_000,
  own: (heldKib) => ({
    detail: `Answers that you have not read to their end hold ${heldKib} KiB.`,
    suggestedFix: 'Read the answers that you asked for before, or end their connections; ask for fewer at a time.',
  }),
  all: { detail: 'Too many answers are being sent just now.', suggestedFix: 'Try again in a few seconds.' },
};

/** Bodies wait in files, so that waiting costs little. */
export const work: BudgetUse = {
  patienceMs: 15_000,
  own: () => ({
    detail: 'Other large requests of yours are still being worked on.',
    suggestedFix: 'Send large requests one after the other, or smaller ones.',
  }),
  all: { detail: 'Too many large requests are being worked on just now.', suggestedFix: 'Try again in a few seconds.' },
};

interface Wanted {
  caller: string;
  bytes: number;
  /** What the request has already. */
  held: number;
}

interface Waiter extends Wanted {
  admit(): void;
}

/** Bytes of memory that are counted for what is done for callers: in this process, and for each of them. */
export class ByteBudget {
  private used = 0;
  private readonly usedBy = new Map<string, number>();
  private readonly waiting = new Set<Waiter>();

  constructor(
    private readonly limits: Limits,
    private readonly use: BudgetUse,
  ) {}

  /** A caller's part of the budget, for one request; it holds nothing yet. */
  open(caller: string): Room {
    return new Room(this, caller);
  }

  /** Waits a while for room, then refuses. Who needs much waits behind those who came before; who needs little does not. */
  async take(wanted: Wanted): Promise<void> {
    const { caller, bytes } = wanted;
    const isAhead = bytes <= sentBytes || ![...this.waiting].some((waiter) => this.fitsOwn(waiter));
    if (isAhead && this.fitsOwn(wanted) && this.fitsAll(wanted)) this.add(caller, bytes);
    else await this.wait(wanted);
  }

  /** A single request may need more than the limit, if nothing else is held but by those who wait as well. */
  private fitsOwn({ caller, bytes, held }: Wanted): boolean {
    const own = this.usedBy.get(caller) ?? 0;
    return own + bytes <= this.limits.callerBytes || own <= Math.max(held, this.countIdle(caller));
  }

  private fitsAll({ bytes, held }: Wanted): boolean {
    return this.used + bytes <= this.limits.processBytes || this.used <= Math.max(held, this.countIdle());
  }

  /** What is held by requests that wait for more. */
  private countIdle(caller?: string): number {
    let idle = 0;
    for (const waiter of this.waiting) if (caller === undefined || waiter.caller === caller) idle += waiter.held;
    return idle;
  }

  private wait(wanted: Wanted): Promise<void> {
    const { caller, bytes } = wanted;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(waiter);
        reject(this.refuse(wanted));
      }, this.use.patienceMs);
      const waiter: Waiter = {
        ...wanted,
        admit: () => {
          clearTimeout(timer);
          this.waiting.delete(waiter);
          this.add(caller, bytes);
          resolve();
        },
      };
      this.waiting.add(waiter);
      this.admitWaiting();
    });
  }

  /** Negative gives back. */
  add(caller: string, bytes: number): void {
    this.used += bytes;
    const own = (this.usedBy.get(caller) ?? 0) + bytes;
    if (own === 0) this.usedBy.delete(caller);
    else this.usedBy.set(caller, own);
    if (bytes < 0) this.admitWaiting();
  }

  /** Callers who hold least come first. One who holds too much stops nobody else; one who needs much is not overtaken for ever. */
  private admitWaiting(): void {
    const own = ({ caller }: Waiter) => this.usedBy.get(caller) ?? 0;
    let isFull = false;
    for (const waiter of [...this.waiting].sort((a, b) => own(a) - own(b))) {
      if (!this.fitsOwn(waiter) || (isFull && waiter.bytes > sentBytes)) continue;
      if (this.fitsAll(waiter)) waiter.admit();
      else isFull = true;
    }
  }

  private refuse(wanted: Wanted): DomainError {
    const own = this.usedBy.get(wanted.caller) ?? 0;
    const isOwn = !this.fitsOwn(wanted);
    const { detail, suggestedFix } = isOwn ? this.use.own(Math.ceil(own / 1024)) : this.use.all;
    return new DomainError(isOwn ? 'rate-limited' : 'unavailable', detail, suggestedFix, { headers: { 'Retry-After': retryAfterSeconds } });
  }
}

/** What one request holds of a budget. */
export class Room {
  private held = 0;
  private released = false;

  constructor(
    private readonly budget: ByteBudget,
    private readonly caller: string,
  ) {}

  /** Waits until so much can be held; refuses after a while. */
  async take(bytes: number): Promise<void> {
    await this.budget.take({ caller: this.caller, bytes, held: this.held });
    // The caller may have gone meanwhile.
    if (this.released) this.budget.add(this.caller, -bytes);
    else this.held += bytes;
  }

  /** Holds what the answer that was made needs, without waiting. */
  settle(bytes: number): void {
    if (this.released) return;
    this.budget.add(this.caller, bytes - this.held);
    this.held = bytes;
  }

  /** Holds at least so much. */
  keep(bytes: number): void {
    this.settle(Math.max(this.held, bytes));
  }

  release(): void {
    this.settle(0);
    this.released = true;
  }
}
