import { DomainError } from '../../core/errors.ts';

/** What an answer costs while it is sent, whether anybody reads it or not. */
export const sentBytes = 1024 * 1024;

/** How long a request waits for room before it is refused. */
const patienceMs = 2_000;
const retryAfterSeconds = '2';

interface Limits {
  processBytes: number;
  callerBytes: number;
}

interface Waiter {
  caller: string;
  bytes: number;
  admit(): void;
}

/** Bytes of answers that are being made or sent, in this process and for each caller. */
export class AnswerBudget {
  private used = 0;
  private readonly usedBy = new Map<string, number>();
  private readonly waiting = new Set<Waiter>();

  constructor(private readonly limits: Limits) {}

  /** A caller's part of the budget, for one request; it holds nothing yet. */
  open(caller: string): AnswerRoom {
    return new AnswerRoom(this, caller);
  }

  /** Waits a while for room, then refuses. */
  async take(caller: string, bytes: number): Promise<void> {
    if (!this.hasRoom(caller, bytes)) await this.wait(caller, bytes);
    else this.add(caller, bytes);
  }

  /** A single answer may be larger than the limit, if nothing else is held. */
  private hasRoom(caller: string, bytes: number): boolean {
    const own = this.usedBy.get(caller) ?? 0;
    const fits = (used: number, limit: number) => used === 0 || used + bytes <= limit;
    return fits(own, this.limits.callerBytes) && fits(this.used, this.limits.processBytes);
  }

  private wait(caller: string, bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting.delete(waiter);
        reject(this.refuse(caller, bytes));
      }, patienceMs);
      const waiter: Waiter = {
        caller,
        bytes,
        admit: () => {
          clearTimeout(timer);
          this.waiting.delete(waiter);
          this.add(caller, bytes);
          resolve();
        },
      };
      this.waiting.add(waiter);
    });
  }

  /** Negative gives back. Those who wait are admitted in their order; one whose caller holds too much stops nobody else. */
  add(caller: string, bytes: number): void {
    this.used += bytes;
    const own = (this.usedBy.get(caller) ?? 0) + bytes;
    if (own === 0) this.usedBy.delete(caller);
    else this.usedBy.set(caller, own);
    if (bytes >= 0) return;
    for (const waiter of this.waiting) if (this.hasRoom(waiter.caller, waiter.bytes)) waiter.admit();
  }

  private refuse(caller: string, bytes: number): DomainError {
    const own = this.usedBy.get(caller) ?? 0;
    const headers = { 'Retry-After': retryAfterSeconds };
    if (own > 0 && own + bytes > this.limits.callerBytes)
      return new DomainError(
        'rate-limited',
        `Answers that you have not read to their end hold ${Math.ceil(own / 1024)} KiB.`,
        'Read the answers that you asked for before, or end their connections; ask for fewer at a time.',
        { headers },
      );
    return new DomainError('unavailable', 'Too many answers are being sent just now.', 'Try again in a few seconds.', { headers });
  }
}

/** What one request holds of the budget. */
export class AnswerRoom {
  private held = 0;
  private released = false;

  constructor(
    private readonly budget: AnswerBudget,
    private readonly caller: string,
  ) {}

  /** Waits until so much can be held; refuses after a while. */
  async take(bytes: number): Promise<void> {
    await this.budget.take(this.caller, bytes);
    this.held += bytes;
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
