import { setTimeout as delay } from 'node:timers/promises';
import { DomainError } from '../../core/errors.ts';
import { findBubblewrap } from '../duckdb/sandbox/isolation.ts';
import { tryIsolation } from '../duckdb/sandbox/openIsolation.ts';
import { ProcessPool } from '../duckdb/sandbox/pool.ts';
import { untilAborted } from '../duckdb/sandbox/untilAborted.ts';
import type { Done, RunLimits } from './explainReport.ts';
import { pythonIsolation } from './pythonIsolation.ts';
import { findPackages, findPython, type PythonPlace, readSetUp } from './pythonPackages.ts';
import { describePython } from './pythonProgram.ts';
import { runTemplate } from './runTemplate.ts';

/** Runs Python templates of users over pandas, each in a process that has nothing but its tables. */
export interface Python {
  /** Calls the template's `transform` with the tables. Refusals are thrown, those of the template as PythonFault. */
  run(run: PythonRun): Promise<PythonResult>;
  /** Whether a template can be read and its function takes these arguments, without running it. Throws refusals. */
  check(check: { userId: string; template: string; argNames: string[]; signal?: AbortSignal }): Promise<void>;
  readonly state: { alive: number; busy: number; queued: number };
  close(): Promise<void>;
}

export interface PythonRun extends Partial<RunLimits> {
  /** Whose share of the processes it takes. */
  userId: string;
  template: string;
  /** By the names of the function's parameters: files that hold an Arrow stream each. */
  args: Record<string, string>;
  /** Where to put the result, which the caller then owns. */
  resultPath: string;
  maxRows: number;
  maxBytes: number;
  /** Ends the run when it is aborted. */
  signal?: AbortSignal;
}

export interface PythonResult extends Done {
  /**
   * A Parquet file with these columns in this order, written by our own code in an isolated process. Its reader casts them to their
   * types: JSON is text there, and a TIME has the zone UTC.
   */
  resultPath: string;
}

export interface PythonOptions extends RunLimits {
  /** For the folders of the processes. */
  dir: string;
  searchPath: string[];
  /** Where packages may have been set up. */
  cacheDirs: string[];
  /** Templates that run at the same time. */
  processes: number;
  /** How long the first run waits for a set-up that is under way. */
  setUpWaitMs?: number;
  /** For the log: a process could not be started. */
  onTrouble?(error: Error): void;
}

const maxColumns = 16_384;
const maxWaitMs = 300_000;
/** Runs after which a process is replaced. */
const maxServed = 500;
const checkTimeoutMs = 5_000;
const usualSetUpWaitMs = 25_000;
const lookEveryMs = 500;

/** Throws `not-configured`, with what to install, where templates cannot be run. */
export async function openPython(options: PythonOptions): Promise<Python> {
  const { dir, searchPath, cacheDirs, processes, timeoutMs, memoryBytes } = options;
  const bwrap = findBubblewrap(searchPath);
  if (!bwrap)
    throw missing('bubblewrap, which shuts it in, is not installed', 'Install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap).');
  const place = await findPython(searchPath, cacheDirs);
  if (!place)
    throw missing(
      'there is no python3 of version 3.9 to 3.14',
      'Install python3 (Debian, Ubuntu: apt-get install python3 python3-venv), and start the service again.',
    );
  const packagesDir = await waitForPackages(place, options.setUpWaitMs ?? usualSetUpWaitMs);
  const isolation = await describePython(place.python, packagesDir)
    .then((program) => tryIsolation(dir, 0o700, (workDir) => pythonIsolation(bwrap, program, memoryBytes, workDir)))
    .catch((error: Error) => {
      options.onTrouble?.(error);
      throw missing(
        'it cannot be shut in on this machine',
        'Look into the log of the service for the reason; user namespaces and seccomp must be allowed.',
        error,
      );
    });
  const pool = new ProcessPool(
    {
      size: processes,
      // They are not used up by a run.
      spare: 0,
      maxQueue: 512,
      maxQueueOfOne: 256,
      maxWaitMs,
      maxServed,
      start: isolation.start,
      onTrouble: (error) => options.onTrouble?.(error),
    },
    isolation.first,
  );
  return {
    get state() {
      return pool.state;
    },
    async run({ userId, signal, resultPath, ...run }) {
      const limits = {
        timeoutMs: Math.min(run.timeoutMs ?? timeoutMs, timeoutMs),
        memoryBytes: Math.min(run.memoryBytes ?? memoryBytes, memoryBytes),
      };
      const done = await pool.use(
        userId,
        (process) => untilAborted(signal, process, () => runTemplate(process, { ...run, ...limits, op: 'run', resultPath, maxColumns })),
        { signal },
      );
      return { ...done, resultPath };
    },
    async check({ userId, template, argNames, signal }) {
      const args = Object.fromEntries(argNames.map((name) => [name, null]));
      const limits = { timeoutMs: checkTimeoutMs, memoryBytes, maxRows: 0, maxColumns: 0, maxBytes: 0 };
      await pool.use(userId, (process) => runTemplate(process, { op: 'check', template, args, resultPath: null, ...limits }), { signal });
    },
    async close() {
      await pool.close();
      await isolation.remove();
    },
  };
}

async function waitForPackages(place: PythonPlace, waitMs: number): Promise<string> {
  for (const untilMs = Date.now() + waitMs; ; await delay(lookEveryMs)) {
    const found = findPackages(place);
    if (found) return found;
    const state = readSetUp(place);
    if (state?.status === 'failed')
      throw missing(`its packages could not be set up: ${state.why}`, 'Put that right, and start the service again.');
    if (!state) throw missing('its packages are not set up', 'Start the service by npm start, or run npm run build once.');
    if (Date.now() > untilMs)
      throw new DomainError('unavailable', 'Python is being set up.', 'Try again in a minute.', { headers: { 'Retry-After': '30' } });
  }
}

function missing(why: string, fix: string, cause?: unknown): DomainError {
  return new DomainError('not-configured', `Python cannot be run here: ${why}.`, fix, { cause });
}
