import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../../store/config.ts';
import { describeEnding, isRunning, readStamp, type StopStep, sendSignal, stopProcess } from './processes.ts';
import type { RunningProcess } from './runningProcess.ts';
import { writeSecretFile } from './secrets.ts';

/** A process that must be ended when we end. */
export interface Tracked {
  name: string;
  pid: number;
  stamp: string;
  /** Lower ones are stopped first; the database last, since the others still write to it. */
  order: number;
  steps: readonly StopStep[];
}

/**
 * Lists every process we have started, and passes the list on twice: to the reaper, which ends them when we are killed, and to
 * a file, from which the next start ends them if the reaper was killed as well.
 */
export interface ProcessRegistry {
  track(process: Omit<Tracked, 'stamp'>): void;
  untrack(pid: number): void;
  /** The reaper removes this folder when we end, however that happens. */
  removeAtEnd(folder: string): void;
  startReaper(): Promise<RunningProcess>;
}

export function createProcessRegistry(recordPath: string | null): ProcessRegistry {
  const tracked = new Map<number, Tracked>();
  const folders: string[] = [];
  let reaper: ChildProcess | null = null;

  const describe = () => ({ processes: [...tracked.values()], folders });
  const tell = () => {
    const all = describe();
    if (recordPath) writeSecretFile(recordPath, all.processes);
    // A reaper that has just died gets the list when it is started again.
    if (reaper?.connected) reaper.send(all, () => {});
  };

  return {
    track(process) {
      const stamp = readStamp(process.pid);
      if (stamp === null) return;
      tracked.set(process.pid, { ...process, stamp });
      tell();
    },
    untrack(pid) {
      if (tracked.delete(pid)) tell();
    },
    removeAtEnd(folder) {
      folders.push(folder);
      tell();
    },
    async startReaper() {
      // Also as an argument, in case we are killed before it receives its first message.
      const child = fork(join(projectDir, 'scripts/reaper.mjs'), [JSON.stringify(describe())], {
        detached: true,
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
        execArgv: [],
      });
      const ended = new Promise<string>((done) => {
        child.once('error', (error) => done(error.message));
        child.once('exit', (code, signal) => done(describeEnding(code, signal)));
      });
      const ready = new Promise<null>((done) => child.once('message', () => done(null)));
      const problem = await Promise.race([ready, ended]);
      if (problem !== null) throw new Error(`the reaper ended while starting (${problem})`);
      reaper = child;
      tell();
      return {
        pid: child.pid ?? 0,
        ended,
        readTail: () => [],
        async stop() {
          // Everything has been stopped by now; should something be left by mistake, the reaper ends it.
          if (child.connected) child.disconnect();
          await ended;
        },
        kill: () => sendSignal(child.pid ?? 0, 'SIGKILL'),
      };
    },
  };
}

/** Ends what an earlier run left behind; `recordPath` is the file that its registry wrote. */
export async function stopLeftovers(recordPath: string, say: (line: string) => void): Promise<void> {
  const left = readRecord(recordPath).filter(({ pid, stamp }) => isRunning(pid, stamp));
  for (const order of [...new Set(left.map((each) => each.order))].sort((a, b) => a - b)) {
    const group = left.filter((each) => each.order === order);
    for (const { name, pid } of group) say(`${name} (pid ${pid}) is left over from an earlier run; stopping it`);
    await Promise.all(group.map(({ pid, stamp, steps }) => stopProcess(pid, stamp, steps)));
  }
  rmSync(recordPath, { force: true });
}

function readRecord(path: string): Tracked[] {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Tracked[];
  } catch {
    return [];
  }
}
