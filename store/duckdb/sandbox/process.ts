import type { Socket } from 'node:net';
import { type ChildFolders, makeFolders } from './folders.ts';
import type { Isolation } from './isolation.ts';
import { lowerPriority } from './lowerPriority.ts';
import { encodeHead, FrameReader, type Replies, type Reply, type Request } from './protocol.ts';
import { WarmSessions } from './warmSessions.ts';

/** The process was killed or died. `killed`: by somebody else. */
export class ProcessGone extends Error {
  override readonly name = 'ProcessGone';

  constructor(
    readonly why: 'timeout' | 'memory' | 'crash' | 'killed' | 'closed',
    message: string,
    /** Of a process that ended by itself; over 128 by a signal. */
    readonly exitCode: number | null = null,
  ) {
    super(message);
  }
}

export interface QueryProcess {
  readonly pid: number;
  readonly folders: ChildFolders;
  /** The folders as the process sees them. */
  readonly seen: { inDir: string; outDir: string };
  /** Requests that it has run; those of a session that stayed count little. */
  served: number;
  readonly sessions: WarmSessions;
  /** What is still to be done in it before the next request; its answer does not wait for that. */
  tidying: Promise<void> | null;
  readonly gone: boolean;
  /** Rejects with ProcessGone when the process dies, or is killed because no reply came in time. */
  ask<R extends Request>(request: R, timeoutMs: number): Promise<{ reply: Reply<R['op'] & keyof Replies>; body: Buffer }>;
  /** Lets other processes go first. It cannot be taken back. */
  yieldToOthers(): void;
  /** Receives what the process says beside its replies. */
  listen(receiver: (note: unknown) => void): void;
  kill(why?: ProcessGone): void;
  /** Called once, when the process is gone and its folders are removed. */
  onGone(callback: () => void): void;
}

const readyTimeoutMs = 30_000;
/** No reply to our requests is larger; a larger one is an attack or a fault. */
const maxFrameBytes = 80 * 1024 * 1024;
const stderrBytes = 4_000;
const lowNiceness = 10;
/** With which bubblewrap ends when the process inside was ended by SIGKILL. */
const killedCode = 137;

/** Resolves once the process is ready for its first request. */
export async function startProcess(isolation: Isolation, workDir: string): Promise<QueryProcess> {
  const folders = await makeFolders(workDir, await isolation.nextOwner());
  const child = isolation.spawn(folders);
  const socket = child.stdio[3] as Socket;
  const frames = new FrameReader(maxFrameBytes);
  const goneCallbacks: (() => void)[] = [];
  let waiting: { resolve(frame: { header: unknown; body: Buffer }): void; reject(error: Error): void } | null = null;
  let gone: ProcessGone | null = null;
  let removed = false;
  let stderr = '';
  let receiveNote: (note: unknown) => void = () => {};

  const end = (error: ProcessGone) => {
    if (gone) return;
    gone = error;
    // bubblewrap ends everything inside with it.
    child.kill('SIGKILL');
    socket.destroy();
    waiting?.reject(error);
    waiting = null;
  };
  const next = (timeoutMs: number) =>
    new Promise<{ header: unknown; body: Buffer }>((resolve, reject) => {
      if (gone) return reject(gone);
      const timer = setTimeout(() => end(new ProcessGone('timeout', `no answer from a query process within ${timeoutMs} ms`)), timeoutMs);
      const settle =
        <T>(pass: (value: T) => void) =>
        (value: T) => {
          clearTimeout(timer);
          pass(value);
        };
      waiting = { resolve: settle(resolve), reject: settle(reject) };
    });

  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-stderrBytes);
  });
  child.once('error', (error) => end(new ProcessGone('crash', `a query process could not be started: ${error.message}`)));
  child.once('close', (code, signal) => {
    const why = signal === 'SIGKILL' || code === killedCode ? 'killed' : 'crash';
    end(new ProcessGone(why, `a query process ended (${signal ?? `exit code ${code}`}): ${stderr.trim()}`, code));
    isolation.sweep(folders);
    void folders
      .remove()
      .catch(() => {})
      .then(() => {
        removed = true;
        for (const callback of goneCallbacks) callback();
      });
  });
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    try {
      for (const frame of frames.push(chunk)) {
        const { note } = frame.header as { note?: unknown };
        if (note !== undefined) {
          receiveNote(note);
          continue;
        }
        const receiver = waiting;
        waiting = null;
        receiver?.resolve(frame);
      }
    } catch (error) {
      end(new ProcessGone('crash', `a query process sent nonsense: ${String(error)}`));
    }
  });

  await next(readyTimeoutMs);
  return {
    pid: child.pid ?? 0,
    folders,
    seen: isolation.seen(folders),
    served: 0,
    tidying: null,
    sessions: new WarmSessions(),
    get gone() {
      return gone !== null;
    },
    async ask(request, timeoutMs) {
      const answer = next(timeoutMs);
      if (!gone) socket.write(encodeHead(request));
      const { header, body } = await answer;
      return { reply: header as never, body };
    },
    yieldToOthers() {
      if (!gone && child.pid !== undefined) void lowerPriority(child.pid, lowNiceness);
    },
    listen(receiver) {
      receiveNote = receiver;
    },
    kill: (why = new ProcessGone('closed', 'a query process was ended')) => end(why),
    onGone: (callback) => (removed ? callback() : goneCallbacks.push(callback)),
  };
}
