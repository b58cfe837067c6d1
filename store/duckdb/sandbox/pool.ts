import { DomainError } from '../../../core/errors.ts';
import { FoldersGone } from './folders.ts';
import { ProcessGone, type QueryProcess } from './process.ts';

export interface PoolOptions {
  /** Queries that run at the same time; one more process is kept ready. */
  size: number;
  /** Queries that may wait; further ones are refused. */
  maxQueue: number;
  maxWaitMs: number;
  /** Requests after which a process is replaced. */
  maxServed: number;
  start(): Promise<QueryProcess>;
  onTrouble(error: Error): void;
}

interface Waiting {
  accountId: string;
  go(process: QueryProcess): void;
  refuse(error: Error): void;
  timer: NodeJS.Timeout;
}

const retryPauseMs = 1_000;

/** Shares query processes fairly between accounts and keeps enough of them ready. */
export class ProcessPool {
  private readonly idle: QueryProcess[] = [];
  private readonly alive = new Set<QueryProcess>();
  private readonly busy = new Map<string, number>();
  private readonly queue: Waiting[] = [];
  private readonly removals = new Set<Promise<void>>();
  private busyCount = 0;
  private starting = 0;
  private closed = false;

  /** `first` is a process that was started to test the isolation. */
  constructor(
    private readonly options: PoolOptions,
    first: QueryProcess,
  ) {
    this.add(first);
    this.refill();
  }

  /** How many queries one account may run at once, so that others are not blocked. */
  get perAccount(): number {
    return Math.max(1, Math.floor(this.options.size / 2));
  }

  get state(): { alive: number; busy: number; queued: number } {
    return { alive: this.alive.size, busy: this.busyCount, queued: this.queue.length };
  }

  /**
   * Runs `work` with a process of its own. A process that is gone afterwards, or has served `maxServed` requests, is replaced.
   * `signal` leaves the queue. If the folders of a process were deleted, the work is repeated with another, which is safe
   * because queries change nothing; all ready processes may have lost their folders.
   */
  async use<T>(accountId: string, work: (process: QueryProcess) => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (let tries = 0; ; tries += 1) {
      const process = await this.take(accountId, signal);
      try {
        return await work(process);
      } catch (error) {
        if (!(error instanceof FoldersGone)) throw error;
        process.kill();
        if (tries > this.options.size) throw error;
      } finally {
        process.served += 1;
        this.giveBack(accountId, process);
      }
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const waiting of this.queue.splice(0)) this.refuse(waiting, closing());
    for (const process of [...this.alive]) this.retire(process);
    while (this.starting > 0 || this.removals.size > 0) await Promise.race([...this.removals, new Promise((done) => setTimeout(done, 20))]);
  }

  private take(accountId: string, signal?: AbortSignal): Promise<QueryProcess> {
    if (this.closed) return Promise.reject(closing());
    if (signal?.aborted) return Promise.reject(givenUp());
    const leave = () => this.refuse(waiting, givenUp());
    let waiting: Waiting;
    const taken = new Promise<QueryProcess>((resolve, reject) => {
      waiting = {
        accountId,
        go: resolve,
        refuse: reject,
        timer: setTimeout(() => this.refuse(waiting, tooMany()), this.options.maxWaitMs),
      };
      this.queue.push(waiting);
      signal?.addEventListener('abort', leave, { once: true });
      this.dispatch();
      const surplus = this.queue.length > this.options.maxQueue ? this.findSurplus() : undefined;
      if (surplus) this.refuse(surplus, tooMany());
    });
    return taken.finally(() => signal?.removeEventListener('abort', leave));
  }

  /** The newest query of the account with the most queries in the queue, so that no account fills it alone. */
  private findSurplus(): Waiting | undefined {
    const counts = new Map<string, number>();
    for (const { accountId } of this.queue) counts.set(accountId, (counts.get(accountId) ?? 0) + 1);
    const most = Math.max(...counts.values());
    return this.queue.findLast(({ accountId }) => counts.get(accountId) === most);
  }

  /** In order of arrival, skipping accounts that run as many queries as they may. */
  private dispatch(): void {
    while (this.busyCount < this.options.size && this.idle.length > 0) {
      const index = this.queue.findIndex(({ accountId }) => (this.busy.get(accountId) ?? 0) < this.perAccount);
      if (index < 0) return;
      const [waiting] = this.queue.splice(index, 1) as [Waiting];
      clearTimeout(waiting.timer);
      this.busyCount += 1;
      this.busy.set(waiting.accountId, (this.busy.get(waiting.accountId) ?? 0) + 1);
      waiting.go(this.idle.shift() as QueryProcess);
    }
  }

  private giveBack(accountId: string, process: QueryProcess): void {
    this.busyCount -= 1;
    const left = (this.busy.get(accountId) ?? 1) - 1;
    if (left > 0) this.busy.set(accountId, left);
    else this.busy.delete(accountId);
    if (process.gone || process.served >= this.options.maxServed || this.closed) this.retire(process);
    else this.idle.push(process);
    this.dispatch();
  }

  private refuse(waiting: Waiting, error: Error): void {
    const index = this.queue.indexOf(waiting);
    if (index >= 0) this.queue.splice(index, 1);
    clearTimeout(waiting.timer);
    waiting.refuse(error);
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
    while (!this.closed && this.alive.size + this.starting < this.options.size + 1) {
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

export function givenUp(): DomainError {
  return new DomainError('query-failed', 'The query was given up before it had ended.', 'Send it again, and wait for the answer.');
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
