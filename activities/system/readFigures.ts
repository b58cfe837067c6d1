import { acrossAccounts } from '../../store/pg/accountScope.ts';
import { countBrokenChains } from '../../store/pg/audit.ts';
import {
  countJobs,
  countWaitingEvents,
  type JobCount,
  type StoredBytes,
  sumStoredBytes,
  type WaitingEvents,
} from '../../store/pg/figures.ts';
import type { Services } from '../../store/services.ts';

/** What the database knows of the whole installation, for operators. */
export interface Figures {
  brokenChains: number;
  jobs: JobCount[];
  bytes: StoredBytes;
  waitingEvents: WaitingEvents;
  /** Whether workers ask for tasks. */
  hasWorkers: boolean;
  /** Tasks that wait for a worker. */
  waitingTasks: { workflow: number; activity: number };
}

/** However often they are asked for, they are counted only so often: sizes, which take longest, least often. */
const freshMs = { chains: 0, jobs: 5_000, bytes: 60_000 };

/** Reads the figures. A part that does not answer leaves them as they were, since the others are needed then. */
export function makeFigureReader(services: Services): () => Promise<Partial<Figures>> {
  const { pool } = services.db;
  const keep = <T>(ms: number, read: () => Promise<T>): (() => Promise<T | null>) => {
    let readAt = 0;
    let value: Promise<T | null> = Promise.resolve(null);
    return () => {
      const last = value;
      if (Date.now() - readAt >= ms) {
        readAt = Date.now();
        value = acrossAccounts(read).catch(() => last);
      }
      return value;
    };
  };
  const brokenChains = keep(freshMs.chains, () => countBrokenChains(pool));
  const jobs = keep(freshMs.jobs, () => countJobs(pool));
  const events = keep(freshMs.jobs, () => countWaitingEvents(pool));
  const bytes = keep(freshMs.bytes, () => sumStoredBytes(pool));
  const waitingTasks = keep(freshMs.jobs, async () => (await services.temporal()).countWaitingTasks(services.config.temporal.taskQueue));
  const workers = keep(freshMs.jobs, async () => ({
    present: await (await services.temporal()).hasWorkers(services.config.temporal.taskQueue),
  }));
  return async () => {
    const [chains, counted, stored, tasks, waiting, asking] = await Promise.all([
      brokenChains(),
      jobs(),
      bytes(),
      waitingTasks(),
      events(),
      workers(),
    ]);
    return {
      ...(chains === null ? {} : { brokenChains: chains }),
      ...(counted && { jobs: counted }),
      ...(stored && { bytes: stored }),
      ...(tasks && { waitingTasks: tasks }),
      ...(asking && { hasWorkers: asking.present }),
      ...(waiting && { waitingEvents: waiting }),
    };
  };
}
