import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** A signal to send (null: none, the process notices by itself) and how long to wait before the next step. */
export interface StopStep {
  signal: NodeJS.Signals | null;
  waitMs: number;
}

/** How the parts are stopped. Each has a bound; after the last step comes SIGKILL. */
export const stopSteps = {
  /** The supervisor is gone, so they stop by themselves. */
  nodeAlone: [{ signal: null, waitMs: 5_000 }],
  temporal: [{ signal: 'SIGTERM', waitMs: 8_000 }],
  temporalAlone: [{ signal: 'SIGTERM', waitMs: 3_000 }],
  /** SIGINT is PostgreSQL's fast shutdown, SIGQUIT its immediate one; the log is replayed after the latter. */
  postgres: [
    { signal: 'SIGINT', waitMs: 20_000 },
    { signal: 'SIGQUIT', waitMs: 3_000 },
  ],
  postgresAlone: [
    { signal: 'SIGINT', waitMs: 4_000 },
    { signal: 'SIGQUIT', waitMs: 1_000 },
  ],
  helper: [{ signal: 'SIGTERM', waitMs: 1_000 }],
} as const satisfies Record<string, readonly StopStep[]>;

/**
 * Tells one process from a later one with the same pid. Null: there is no such process, or only its zombie, which
 * stays for ever where process 1 does not collect orphans (many containers).
 */
export function readStamp(pid: number): string | null {
  try {
    const [state, ...rest] = readStat(pid);
    return state === 'Z' || state === 'X' ? null : `${readBootId()}/${rest[18]}`;
  } catch {
    return process.platform === 'linux' ? null : stampWithoutProc(pid);
  }
}

/** State, parent, group and so on; the command before them, in parentheses, may itself hold spaces and parentheses. */
function readStat(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function stampWithoutProc(pid: number): string | null {
  try {
    process.kill(pid, 0);
    return 'running';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM' ? 'running' : null;
  }
}

function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

export function isRunning(pid: number, stamp: string): boolean {
  return readStamp(pid) === stamp;
}

async function waitGone(pid: number, stamp: string, timeoutMs: number): Promise<boolean> {
  for (const untilMs = Date.now() + timeoutMs; isRunning(pid, stamp); await delay(25)) {
    if (Date.now() >= untilMs) return false;
  }
  return true;
}

/** Stops a process that need not be our child, step by step, and whatever is left of its process group. */
export async function stopProcess(pid: number, stamp: string, steps: readonly StopStep[]): Promise<void> {
  if (!isRunning(pid, stamp)) return;
  for (const { signal, waitMs } of steps) {
    if (!isRunning(pid, stamp)) break;
    if (signal) sendSignal(pid, signal);
    if (await waitGone(pid, stamp, waitMs)) break;
  }
  if (isRunning(pid, stamp)) sendSignal(pid, 'SIGKILL');
  sendSignal(-pid, 'SIGKILL');
  await waitGone(pid, stamp, 5_000);
}

/** To a process, or to a process group by its negative id. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  // 0 and -1 mean "my own group" and "everyone" to the kernel.
  if (Math.abs(pid) <= 1) return;
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone already.
  }
}

export function describeEnding(code: number | null, signal: NodeJS.Signals | null): string {
  return signal ?? `exit code ${code}`;
}
