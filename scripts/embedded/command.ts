import { spawn } from 'node:child_process';
import { readStamp, stopProcess, stopSteps } from './processes.ts';
import type { ProcessRegistry } from './processRegistry.ts';

interface Command {
  program: string;
  args: string[];
  env: Record<string, string>;
  user?: { uid: number; gid: number };
  registry: ProcessRegistry;
  /** Stops it, and everything it started, when aborted. */
  signal?: AbortSignal;
  onLine?(line: string): void;
}

export interface Finished {
  ok: boolean;
  /** Last lines it wrote, or why it could not be started. */
  tail: string[];
}

/** Runs a helper program to its end, in a process group of its own. Never rejects. */
export function runCommand(command: Command): Promise<Finished> {
  return new Promise((done) => {
    const tail: string[] = [];
    const child = spawn(command.program, command.args, {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: command.env,
      cwd: '/',
      ...command.user,
    });
    const pid = child.pid ?? 0;
    const stamp = pid ? (readStamp(pid) ?? '') : '';
    if (pid) command.registry.track({ name: command.program, pid, order: 0, steps: stopSteps.helper });
    const abort = () => void stopProcess(pid, stamp, stopSteps.helper);
    if (command.signal?.aborted) abort();
    command.signal?.addEventListener('abort', abort, { once: true });
    const finish = (ok: boolean) => {
      command.signal?.removeEventListener('abort', abort);
      command.registry.untrack(pid);
      done({ ok: ok && !command.signal?.aborted, tail });
    };
    for (const stream of [child.stdout, child.stderr]) {
      readLines(stream, (line) => {
        tail.push(line);
        if (tail.length > 20) tail.shift();
        command.onLine?.(line);
      });
    }
    child.once('error', (error) => {
      tail.push(error.message);
      finish(false);
    });
    child.once('close', (code) => finish(code === 0));
  });
}

/** Calls back for each whole line; a last one without its end is given when the stream closes. */
export function readLines(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
  stream.on('close', () => {
    if (rest) onLine(rest);
    rest = '';
  });
}
