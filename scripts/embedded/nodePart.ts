import { spawn } from 'node:child_process';
import { prepareProgram } from '../../store/builds/programs.mjs';
import { projectDir } from '../../store/config.ts';
import { readLines } from './command.ts';
import { describeEnding, readStamp, sendSignal, stopProcess, stopSteps } from './processes.ts';
import type { ProcessRegistry } from './processRegistry.ts';
import type { Output } from './report.ts';
import type { RunningProcess } from './runningProcess.ts';

interface NodePartOptions {
  name: string;
  /** One that uses runService, which answers over IPC. */
  program: 'api' | 'worker';
  env: Record<string, string>;
  /** How long it takes at most to stop by itself. */
  stopWithinMs: number;
  report: Output;
  registry: ProcessRegistry;
  signal: AbortSignal;
}

const readyTimeoutMs = 120_000;

/** Starts one of our own processes and waits until it says that it is ready. */
export async function startNodePart({
  name,
  program,
  env,
  stopWithinMs,
  report,
  registry,
  signal,
}: NodePartOptions): Promise<RunningProcess> {
  const child = spawn(process.execPath, [...nodeFlags, ...heapFlags[program], await prepareProgram(program)], {
    cwd: projectDir,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const pid = child.pid ?? 0;
  const stamp = pid ? (readStamp(pid) ?? '') : '';
  if (pid) registry.track({ name, pid, order: 0, steps: stopSteps.nodeAlone });
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) readLines(stream, (line) => report.passOn(name, line));
  }
  const ended = new Promise<string>((done) => {
    child.once('error', (error) => done(error.message));
    child.once('exit', (code, by) => done(describeEnding(code, by)));
  }).then((how) => {
    // Killed alone, it may leave processes of its own behind.
    sendSignal(-pid, 'SIGKILL');
    registry.untrack(pid);
    return how;
  });
  const running: RunningProcess = {
    pid,
    ended,
    readTail: () => [],
    async stop() {
      if (pid) await stopProcess(pid, stamp, [{ signal: 'SIGTERM', waitMs: stopWithinMs + 1_000 }]);
      await ended;
    },
    kill: () => sendSignal(-pid, 'SIGKILL'),
  };
  const ready = new Promise<true>((done) => {
    child.on('message', (message) => {
      if ((message as { type?: unknown } | null)?.type === 'ready') done(true);
    });
  });
  const problem = await Promise.race([ready, ended, wait(readyTimeoutMs, signal)]);
  if (problem === true) return running;
  await running.stop();
  signal.throwIfAborted();
  throw new Error(`${name} ended while starting (${problem})`);
}

/** Node flags for our own processes. A larger young generation suits large request bodies, which create many short-lived objects. */
export const nodeFlags = ['--enable-source-maps', '--max-semi-space-size=64'];

/** The last wall: the budgets of the API keep it well below. A smaller heap is also cleared sooner. */
const heapFlags = { api: ['--max-old-space-size=640'], worker: [] };

function wait(timeoutMs: number, signal: AbortSignal): Promise<string> {
  return new Promise((done) => {
    const timer = setTimeout(() => done(`not ready after ${timeoutMs / 1000} s`), timeoutMs);
    timer.unref();
    const abort = () => done('stopping');
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
  });
}
