import { spawn } from 'node:child_process';
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { describeEnding, readStamp, type StopStep, sendSignal, stopProcess } from './processes.ts';
import type { ProcessRegistry } from './processRegistry.ts';
import type { RunningProcess } from './runningProcess.ts';

interface ServerCommand {
  name: string;
  program: string;
  args: string[];
  env: Record<string, string>;
  user?: { uid: number; gid: number };
  logPath: string;
  registry: ProcessRegistry;
  order: number;
  steps: readonly StopStep[];
  /** Used when the reaper stops it: shorter waits, since nobody is there to see the end. */
  stepsAlone: readonly StopStep[];
}

const maxLogBytes = 10_000_000;

/** Starts a server in a process group of its own, so that a Ctrl-C reaches only us; its output goes to a file. */
export function spawnServer(command: ServerCommand): RunningProcess {
  mkdirSync(dirname(command.logPath), { recursive: true });
  rotateLog(command.logPath);
  const log = openSync(command.logPath, 'a', 0o600);
  const logStart = fstatSync(log).size;
  const child = spawn(command.program, command.args, {
    detached: true,
    stdio: ['ignore', log, log],
    env: command.env,
    cwd: '/',
    ...command.user,
  });
  closeSync(log);
  const pid = child.pid ?? 0;
  const stamp = pid ? (readStamp(pid) ?? '') : '';
  if (pid) command.registry.track({ name: command.name, pid, order: command.order, steps: command.stepsAlone });
  const ended = new Promise<string>((done) => {
    child.once('error', (error) => done(error.message));
    child.once('exit', (code, signal) => done(describeEnding(code, signal)));
  }).then((how) => {
    // Killed alone, it may leave processes of its own behind.
    sendSignal(-pid, 'SIGKILL');
    command.registry.untrack(pid);
    return how;
  });
  return {
    pid,
    ended,
    async stop() {
      if (pid === 0) return;
      await stopProcess(pid, stamp, command.steps);
      await ended;
    },
    kill: () => sendSignal(-pid, 'SIGKILL'),
    readTail: () => readTail(command.logPath, logStart),
  };
}

function rotateLog(path: string): void {
  if (existsSync(path) && statSync(path).size > maxLogBytes) renameSync(path, `${path}.1`);
}

function readTail(path: string, from: number): string[] {
  const maxBytes = 4000;
  try {
    const file = openSync(path, 'r');
    const { size } = fstatSync(file);
    const buffer = Buffer.alloc(Math.min(maxBytes, Math.max(0, size - from)));
    readSync(file, buffer, 0, buffer.length, size - buffer.length);
    closeSync(file);
    return buffer
      .toString('utf8')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .slice(-8);
  } catch {
    return [];
  }
}
