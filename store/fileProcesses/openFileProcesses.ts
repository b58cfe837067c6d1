import { join } from 'node:path';
import { DomainError } from '../../core/errors.ts';
import { emptyFolder, hasFolders } from '../duckdb/sandbox/folders.ts';
import type { Isolation } from '../duckdb/sandbox/isolation.ts';
import { type IsolationChoice, openIsolation } from '../duckdb/sandbox/openIsolation.ts';
import { ProcessGone, type QueryProcess } from '../duckdb/sandbox/process.ts';
import type { ChildProgram } from '../duckdb/sandbox/program.ts';
import { FairGate } from '../fairGate.ts';
import { type FileProcess, openFileProcess } from './fileProcess.ts';
import { findFileProgram } from './program.ts';
import { readMemory } from './readMemory.ts';

/** Processes that read files of strangers, each bounded in memory and time, so that no file can harm the process that asks. */
export interface FileProcesses {
  /** Runs `work` with a process of its own, when it is the user's turn; on abort the process is killed. A file that needs too much is refused. */
  use<T>(userId: string, work: (process: FileProcess) => Promise<T>, limits?: UseLimits): Promise<T>;
  readonly isolation: Isolation['kind'];
  close(): Promise<void>;
}

export interface UseLimits {
  signal?: AbortSignal;
  /** If it is less than that of all. */
  timeMs?: number;
  /** What the process has read is kept for a moment under this name. */
  hold?: string;
  /** The name under which an earlier work was held: its process goes on, if it is still there. */
  resume?: string;
}

export interface FileProcessOptions {
  /** Should be on the file system of the blobs, so that files can be moved by renaming. */
  dir: string;
  searchPath: string[];
  /** Files of one user that are worked on at the same time; one more is for somebody else. */
  processes: number;
  memoryBytes: number;
  timeMs: number;
  isolation?: IsolationChoice;
  /** What runs in the processes, if it is not the program that reads files. */
  findProgram?: (memoryBytes: number) => Promise<ChildProgram>;
  /** How the work is called in refusals. */
  words?: WorkWords;
  /** For the log: a process could not be started. */
  onTrouble?(error: unknown): void;
}

export interface WorkWords {
  /** The beginning of a sentence: what takes too much. */
  work: string;
  one: string;
  fix: string;
}

const fileWords: WorkWords = {
  work: 'Working on the file',
  one: 'one file',
  fix: 'Split the file, leave out what is not needed, or send the sheets as csv.',
};

/**
 * How often a process serves before it is replaced: a new one has to compile its code first. And the memory that it may have after a
 * file: what it has freed is not always given back.
 */
const mostServed = 1_000;
const mostIdleBytes = 512 * 1024 * 1024;
const watchEveryMs = 200;
const forgetTimeoutMs = 5_000;
/** How long a process keeps what it has read for the next step of the same work, and how many do so at a time. */
const holdMs = 15_000;
const mostHeld = 2;
/** How bubblewrap and shells tell that a process was ended by a signal. */
const firstSignalCode = 128;

export async function openFileProcesses(options: FileProcessOptions): Promise<FileProcesses> {
  const isolation = await openIsolation(options.dir, options.searchPath, options.isolation ?? 'any', {
    findProgram: () => (options.findProgram ?? findFileProgram)(options.memoryBytes),
    mayDoWithout: true,
  });
  return new Pool(options, isolation.kind, isolation.first, isolation.start, isolation.remove);
}

class Pool implements FileProcesses {
  private readonly gate: FairGate;
  private readonly alive = new Set<QueryProcess>();
  /** The one that has served last is the last, and the next to serve: its code is compiled. */
  private readonly idle: QueryProcess[] = [];
  /** Processes that have not forgotten their file, by the name of the work; nobody else gets them. */
  private readonly held = new Map<string, { process: QueryProcess; timer: NodeJS.Timeout }>();
  private starting: Promise<void> | null = null;
  private closed = false;

  constructor(
    private readonly options: FileProcessOptions,
    readonly isolation: Isolation['kind'],
    first: QueryProcess,
    private readonly start: () => Promise<QueryProcess>,
    private readonly removeFolders: () => Promise<void>,
  ) {
    this.gate = new FairGate({ slots: options.processes + 1, leftToOthers: 1 });
    this.idle.push(this.register(first));
  }

  use<T>(userId: string, work: (process: FileProcess) => Promise<T>, limits: UseLimits = {}): Promise<T> {
    return new Promise((resolve, reject) => {
      const useOne = async () => {
        limits.signal?.throwIfAborted();
        const process = this.takeHeld(limits.resume) ?? (await this.take());
        // The caller does not wait until the process is ready for the next file.
        await this.watch(process, work, limits).then(resolve, reject);
        await this.giveBack(process, limits.hold);
      };
      this.gate.run(userId, useOne).catch(reject);
    });
  }

  private async watch<T>(process: QueryProcess, work: (process: FileProcess) => Promise<T>, limits: UseLimits): Promise<T> {
    const { signal, timeMs = this.options.timeMs } = limits;
    const stop = () => process.kill();
    signal?.addEventListener('abort', stop, { once: true });
    const timer = setInterval(() => void this.watchMemory(process), watchEveryMs);
    try {
      signal?.throwIfAborted();
      return await work(openFileProcess(process, Date.now() + timeMs));
    } catch (error) {
      // After anything but a refusal of the file the state of the process is not known.
      if (!(error instanceof DomainError)) process.kill();
      signal?.throwIfAborted();
      throw explainEnd(error, this.options, timeMs);
    } finally {
      clearInterval(timer);
      signal?.removeEventListener('abort', stop);
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const { timer } of this.held.values()) clearTimeout(timer);
    await this.starting;
    const removals = [...this.alive].map((process) => new Promise<void>((done) => process.onGone(done)));
    for (const process of this.alive) process.kill();
    await Promise.all(removals);
    await this.removeFolders();
  }

  private async watchMemory(process: QueryProcess): Promise<void> {
    if ((await readMemory(process.pid)) > this.options.memoryBytes) process.kill(new ProcessGone('memory', 'a file took too much memory'));
  }

  private async take(): Promise<QueryProcess> {
    for (let process = this.idle.pop(); process; process = this.idle.pop()) {
      if (!process.gone && (await hasFolders(process.folders))) return process;
      process.kill();
    }
    if (this.closed) throw new Error('the processes that read files are being ended');
    return this.register(await this.start());
  }

  private register(process: QueryProcess): QueryProcess {
    this.alive.add(process);
    process.onGone(() => this.alive.delete(process));
    return process;
  }

  private async giveBack(process: QueryProcess, hold?: string): Promise<void> {
    process.served += 1;
    if (hold !== undefined && !process.gone && !this.closed) {
      // What it has written ahead for the next step stays.
      await emptyFolder(join(process.folders.inDir, 'open')).then(
        () => this.holdFor(hold, process),
        () => process.kill(),
      );
    } else await this.clear(process);
    this.keepWarm();
  }

  private holdFor(name: string, process: QueryProcess): void {
    const timer = setTimeout(() => void this.letGo(name), holdMs).unref();
    this.held.set(name, { process, timer });
    const [oldest] = this.held.keys();
    if (this.held.size > mostHeld && oldest !== undefined) void this.letGo(oldest);
  }

  private takeHeld(name: string | undefined): QueryProcess | null {
    const found = name === undefined ? undefined : this.held.get(name);
    if (!found || name === undefined) return null;
    clearTimeout(found.timer);
    this.held.delete(name);
    return found.process.gone ? null : found.process;
  }

  private async letGo(name: string): Promise<void> {
    const process = this.takeHeld(name);
    if (process) await this.clear(process);
  }

  /** Makes a process ready for any other file, or ends it. */
  private async clear(process: QueryProcess): Promise<void> {
    if (await this.mayServeAgain(process)) this.idle.push(process);
    else process.kill();
  }

  private async emptyFolders({ folders: { inDir, outDir } }: QueryProcess): Promise<void> {
    await Promise.all([emptyFolder(join(inDir, 'open')), emptyFolder(outDir)]);
  }

  private async mayServeAgain(process: QueryProcess): Promise<boolean> {
    if (process.gone || this.closed || process.served >= mostServed) return false;
    try {
      await process.ask({ op: 'forget' } as never, forgetTimeoutMs);
      await this.emptyFolders(process);
      return (await readMemory(process.pid)) <= mostIdleBytes;
    } catch {
      return false;
    }
  }

  /** The next file, which is mostly a small one, does not wait for the start of a process. */
  private keepWarm(): void {
    if (this.idle.length > 0 || this.starting || this.closed) return;
    this.starting = this.start()
      .then((process) => {
        this.idle.unshift(this.register(process));
      })
      .catch((error: unknown) => this.options.onTrouble?.(error))
      .finally(() => {
        this.starting = null;
      });
  }
}

/** Why the process of a file has ended, for whoever sent the file. One that somebody else killed is no fault of the file. */
function explainEnd(error: unknown, { memoryBytes, words = fileWords }: FileProcessOptions, timeMs: number): unknown {
  if (!(error instanceof ProcessGone)) return error;
  // By itself a process ends only for a fault of ours.
  if (error.why === 'crash' && error.exitCode !== null && error.exitCode < firstSignalCode) return error;
  const refuse = (limit: string) =>
    new DomainError('too-large', `${words.work} takes more than the ${limit} that ${words.one} may take.`, words.fix, { cause: error });
  switch (error.why) {
    case 'timeout':
      return refuse(`${timeMs / 1000} seconds`);
    case 'memory':
    case 'crash':
      return refuse(`${Math.round(memoryBytes / 1024 ** 2)} MiB of memory`);
    default:
      return error;
  }
}
