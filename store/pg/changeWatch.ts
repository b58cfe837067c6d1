import { acrossAccounts } from './accountScope.ts';

/**
 * How often is looked: often when somebody has just begun to wait, since most jobs are quick. A change is seen late by the growth
 * at most, as a part of the time that was waited for it.
 */
const pauses = { firstMs: 10, mostMs: 150, growth: 1.2 };
const mostWaiting = { process: 1000, caller: 50 };

/** What tells the state of each of these things from their earlier ones; nothing for what is gone. */
type ReadVersions = (ids: string[]) => Promise<Map<string, string>>;

interface Waiter {
  /** The version that it has seen. */
  seen: string;
  wake(): void;
}

/**
 * Lets any number of callers wait for things to change. One look in a while, at all that are waited for, serves all of them;
 * nothing is looked at while nobody waits.
 */
export class ChangeWatch {
  private readonly waiters = new Map<string, Set<Waiter>>();
  private readonly admitted = new Map<string, number>();
  private admittedInAll = 0;
  private pauseMs = pauses.firstMs;
  private timer: NodeJS.Timeout | null = null;
  private isLooking = false;
  private isClosed = false;

  constructor(private readonly readVersions: ReadVersions) {}

  /**
   * Waits until what has this id is not the version `seen` any more, until the time is over or the signal is aborted. False: the
   * process is about to stop, so there is no use in waiting on.
   */
  async waitForChange(id: string, seen: string, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    if (this.isClosed) return false;
    if (signal?.aborted) return true;
    await new Promise<void>((resolve) => {
      const waiters = this.waiters.get(id) ?? new Set();
      const timer = setTimeout(() => waiter.wake(), timeoutMs);
      const waiter: Waiter = {
        seen,
        wake: () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', waiter.wake);
          waiters.delete(waiter);
          if (waiters.size === 0 && this.waiters.get(id) === waiters) this.waiters.delete(id);
          resolve();
        },
      };
      signal?.addEventListener('abort', waiter.wake, { once: true });
      waiters.add(waiter);
      this.waiters.set(id, waiters);
      this.pauseMs = pauses.firstMs;
      this.lookSoon();
    });
    return !this.isClosed;
  }

  /** For callers who may wait as long as they like: bounded for each of them and in all. Null: too many wait already. */
  admit(caller: string): (() => void) | null {
    const waiting = this.admitted.get(caller) ?? 0;
    if (this.isClosed || waiting >= mostWaiting.caller || this.admittedInAll >= mostWaiting.process) return null;
    this.admitted.set(caller, waiting + 1);
    this.admittedInAll += 1;
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.admittedInAll -= 1;
      const left = (this.admitted.get(caller) ?? 1) - 1;
      if (left === 0) this.admitted.delete(caller);
      else this.admitted.set(caller, left);
    };
  }

  /** Wakes everybody, so that they can answer before the process stops. */
  close(): void {
    this.isClosed = true;
    if (this.timer) clearTimeout(this.timer);
    this.wakeAll();
  }

  private wakeAll(): void {
    for (const waiters of [...this.waiters.values()]) for (const waiter of [...waiters]) waiter.wake();
  }

  private lookSoon(): void {
    if (this.isLooking || this.isClosed) return;
    if (this.timer) clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.look(), this.pauseMs);
  }

  private async look(): Promise<void> {
    this.timer = null;
    if (this.waiters.size === 0) return;
    this.isLooking = true;
    try {
      const ids = [...this.waiters.keys()];
      const versions = await acrossAccounts(() => this.readVersions(ids));
      for (const id of ids) for (const waiter of [...(this.waiters.get(id) ?? [])]) if (waiter.seen !== versions.get(id)) waiter.wake();
      this.pauseMs = Math.min(pauses.mostMs, this.pauseMs * pauses.growth);
    } catch {
      // They will see for themselves what is wrong with the database.
      this.wakeAll();
    } finally {
      this.isLooking = false;
      if (this.waiters.size > 0) this.lookSoon();
    }
  }
}
