import { DomainError } from '../../../core/errors.ts';
import { FairShares } from '../../../core/scheduling/fairShares.ts';
import { endSessions } from './endSessions.ts';
import { FoldersGone } from './folders.ts';
import { ProcessGone, type QueryProcess } from './process.ts';

export interface PoolOptions {
  /** Queries that run at the same time. */
  size: number;
  /** Further processes that are kept ready; one, unless another number is given. */
  spare?: number;
  /** Queries that may wait, of all users and of one; further ones are refused. */
  maxQueue: number;
  maxQueueOfOne: number;
  maxWaitMs: number;
  /** Requests after which a process is replaced. */
  maxServed: number;
  start(): Promise<QueryProcess>;
  onTrouble(error: Error): void;
}

interface Waiting {
  userId: string;
  prefers: Preference;
  go(process: QueryProcess): void;
  refuse(error: Error): void;
  timer: NodeJS.Timeout;
}

/** Whether a process is better suited than others. */
type Preference = (process: QueryProcess) => boolean;

const retryPauseMs = 1_000;
const sweepMs = 15_000;
/** A query that takes longer lets others go first. */
const longMs = 3_000;

/** Shares query processes fairly between users, of which none ever holds all, and keeps enough of them ready. */
export class ProcessPool {
  private readonly idle: QueryProcess[] = [];
  private readonly alive = new Set<QueryProcess>();
  private readonly shares: FairShares<Waiting>;
  private readonly removals = new Set<Promise<void>>();
  private readonly sweeping: NodeJS.Timeout;
  private starting = 0;
  private closed = false;

  /** `first` is a process that was started to test the isolation. */
  constructor(
    private readonly options: PoolOptions,
    first: QueryProcess,
  ) {
    const { size: slots, maxQueue: mostWaiting, maxQueueOfOne: mostWaitingOfOne } = options;
    this.shares = new FairShares({ slots, leftToOthers: 1, mostWaiting, mostWaitingOfOne });
    this.add(first);
    this.refill();
    this.sweeping = setInterval(() => this.endOldSessions(), sweepMs).unref();
  }

  get state(): { alive: number; busy: number; queued: number } {
    return { alive: this.alive.size, busy: this.shares.running, queued: this.shares.waiting };
  }

  /**
   * Runs `work` with a process of its own. A process that is gone afterwards, or has served `maxServed` requests, is replaced.
   * `signal` leaves the queue. If the folders of a process were deleted, the work is repeated with another, which is safe
   * because queries change nothing; all ready processes may have lost their folders.
   */
  async use<T>(
    userId: string,
    work: (process: QueryProcess) => Promise<T>,
    { signal, prefers = (process) => process.sessions.size === 0 }: { signal?: AbortSignal | undefined; prefers?: Preference } = {},
  ): Promise<T> {
    for (let tries = 0; ; tries += 1) {
      const process = await this.take(userId, prefers, signal);
      const timer = setTimeout(() => {
        process.yieldToOthers();
        process.served = Number.POSITIVE_INFINITY;
      }, longMs);
      try {
        return await work(process);
      } catch (error) {
        if (!(error instanceof FoldersGone)) throw error;
        process.kill();
        if (tries > this.options.size) throw error;
      } finally {
        clearTimeout(timer);
        process.served += 1;
        if (process.tidying) void process.tidying.then(() => this.giveBack(userId, process));
        else this.giveBack(userId, process);
      }
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.sweeping);
    for (const waiting of this.shares.removeAll()) turnAway(waiting, closing());
    for (const process of [...this.alive]) this.retire(process);
    while (this.starting > 0 || this.removals.size > 0) await Promise.race([...this.removals, new Promise((done) => setTimeout(done, 20))]);
  }

  private take(userId: string, prefers: Preference, signal: AbortSignal | undefined): Promise<QueryProcess> {
    if (this.closed) return Promise.reject(closing());
    if (signal?.aborted) return Promise.reject(givenUp());
    const leave = (error: Error) => {
      if (this.shares.remove(userId, waiting)) turnAway(waiting, error);
    };
    const onAbort = () => leave(givenUp());
    let waiting: Waiting;
    const taken = new Promise<QueryProcess>((resolve, reject) => {
      waiting = { userId, prefers, go: resolve, refuse: reject, timer: setTimeout(() => leave(tooMany()), this.options.maxWaitMs) };
      this.shares.enter(userId, waiting);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.dispatch();
      const surplus = this.shares.takeSurplus(userId);
      if (surplus) turnAway(surplus, tooMany());
    });
    return taken.finally(() => signal?.removeEventListener('abort', onAbort));
  }

  private dispatch(): void {
    while (this.idle.length > 0) {
      const waiting = this.shares.next();
      if (!waiting) return;
      clearTimeout(waiting.timer);
      const [suited] = this.idle.splice(Math.max(0, this.idle.findIndex(waiting.prefers)), 1);
      waiting.go(suited as QueryProcess);
    }
  }

  private giveBack(userId: string, process: QueryProcess): void {
    process.tidying = null;
    this.shares.leave(userId);
    if (process.gone || process.served >= this.options.maxServed || this.closed) this.retire(process);
    else this.idle.push(process);
    this.dispatch();
  }

  private endOldSessions(): void {
    for (const process of [...this.idle]) {
      const old = process.sessions.takeOld(Date.now());
      if (old.length === 0) continue;
      this.idle.splice(this.idle.indexOf(process), 1);
      void endSessions(process, old)
        .catch(() => process.kill())
        .then(() => {
          if (!process.gone && !this.closed) this.idle.push(process);
          this.dispatch();
        });
    }
  }

  private add(process: QueryProcess): void {
    this.alive.add(process);
    this.idle.push(process);
    process.onGone(() => this.retire(process));
    this.dispatch();
  }

  private retire(process: QueryProcess): void {
    const index = this.idle.indexOf(process);
    if (index >= 0) this.idle.splice(index, 1);
    if (!this.alive.delete(process)) return;
    const removal: Promise<void> = new Promise<void>((done) => process.onGone(done)).finally(() => this.removals.delete(removal));
    this.removals.add(removal);
    process.kill();
    this.refill();
  }

  private refill(): void {
    while (!this.closed && this.alive.size + this.starting < this.options.size + (this.options.spare ?? 1)) {
      this.starting += 1;
      void this.startOne();
    }
  }

  private async startOne(): Promise<void> {
    try {
      const process = await this.options.start();
      this.starting -= 1;
      this.add(process);
      if (this.closed) this.retire(process);
    } catch (error) {
      this.options.onTrouble(error instanceof Error ? error : new ProcessGone('crash', String(error)));
      await new Promise((done) => setTimeout(done, this.closed ? 0 : retryPauseMs));
      this.starting -= 1;
      this.refill();
    }
  }
}

function turnAway(waiting: Waiting, error: Error): void {
  clearTimeout(waiting.timer);
  waiting.refuse(error);
}

/** Not a refusal of the query: a job whose worker is about to stop runs it again elsewhere. */
export function givenUp(): DomainError {
  return new DomainError('unavailable', 'The query was given up before it had ended.', 'Send it again, and wait for the answer.');
}

function tooMany(): DomainError {
  return new DomainError(
    'rate-limited',
    'Too many queries are running or waiting.',
    'Try again in a moment, or run fewer queries at a time.',
    { headers: { 'Retry-After': '2' } },
  );
}

function closing(): DomainError {
  return new DomainError('unavailable', 'The service is stopping.', 'Try again in a moment.', { headers: { 'Retry-After': '5' } });
}
