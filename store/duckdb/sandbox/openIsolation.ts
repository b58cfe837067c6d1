import { copyFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isWhole, makeWorkDir } from './folders.ts';
import { bubblewrapIsolation, findBubblewrap, type Isolation, noIsolation, userIsolation } from './isolation.ts';
import { type QueryProcess, startProcess } from './process.ts';
import { type ChildProgram, findChildProgram } from './program.ts';

export type IsolationChoice = 'any' | 'bubblewrap' | 'user' | 'none';

const sandboxHelp = [
  'Queries run the SQL of others and need a sandbox, which cannot be made here.',
  'Install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap; Alpine: apk add bubblewrap),',
  'allow user namespaces (in a container: --security-opt seccomp=unconfined, or --cap-add SYS_ADMIN), or start as root.',
].join('\n');

export interface OpenedIsolation {
  kind: Isolation['kind'];
  /** The process that it was tested with. */
  first: QueryProcess;
  start(): Promise<QueryProcess>;
  /** Deletes its folder. Call it when no process is left. */
  remove(): Promise<void>;
}

type MakeIsolation = (workDir: string) => Isolation | Promise<Isolation>;

/**
 * The strongest isolation that works on this machine, tested with a real process. Programs that run no code of strangers may do
 * without where none works.
 */
export async function openIsolation(
  dir: string,
  searchPath: string[],
  choice: IsolationChoice,
  { findProgram = findChildProgram, mayDoWithout = false } = {},
): Promise<OpenedIsolation> {
  const program = await findProgram();
  const reasons: string[] = [];
  const attempt = async (parent: string, mode: number, make: MakeIsolation) => {
    try {
      return await tryIsolation(parent, mode, make);
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
      return null;
    }
  };

  if (choice === 'any' || choice === 'bubblewrap') {
    const bwrap = findBubblewrap(searchPath);
    const opened = bwrap
      ? await attempt(dir, 0o700, async (workDir) => bubblewrapIsolation(bwrap, { ...program, bundle: await copyBundle(program, workDir) }))
      : null;
    if (opened) return opened;
    if (!bwrap) reasons.push('bubblewrap (the program bwrap) is not installed');
  }
  if (choice === 'any' || choice === 'user') {
    // Another user must be able to enter it, and nobody else may enter the data folder.
    const opened =
      process.getuid?.() === 0 ? await attempt(tmpdir(), 0o711, (workDir) => userIsolation(program, join(workDir, 'app'))) : null;
    if (opened) return opened;
    if (process.getuid?.() !== 0) reasons.push('without root, no other user can be used');
  }
  if (mayDoWithout) return tryIsolation(dir, 0o700, (workDir) => noIsolation(program, join(workDir, 'app')));
  throw new Error(`${sandboxHelp}\n${reasons.map((reason) => `- ${reason}`).join('\n')}`);
}

/** Processes are started for as long as we run; the bundle itself may be removed once the sources have changed. */
async function copyBundle({ bundle }: ChildProgram, workDir: string): Promise<string> {
  const copy = join(workDir, 'child.mjs');
  await copyFile(bundle, copy);
  return copy;
}

/** An isolation that was tested with a real process. */
export async function tryIsolation(parent: string, mode: number, make: MakeIsolation): Promise<OpenedIsolation> {
  const places = keepPlaces(parent, mode, make);
  const start = async () => {
    const { isolation, workDir } = await places.current();
    return startProcess(isolation, workDir);
  };
  try {
    const { isolation } = await places.current();
    return { kind: isolation.kind, first: await start(), start, remove: places.remove };
  } catch (error) {
    await places.remove();
    throw error;
  }
}

interface Place {
  workDir: string;
  isolation: Isolation;
}

/**
 * The folder that processes are started in. If it was deleted, as programs that clean temporary folders do, a new one is made
 * for the next process, under a new name, because the old one may belong to somebody else by now.
 */
function keepPlaces(parent: string, mode: number, make: MakeIsolation): { current(): Promise<Place>; remove(): Promise<void> } {
  const workDirs: string[] = [];
  let making: Promise<Place> | null = null;
  const makePlace = async (): Promise<Place> => {
    const workDir = await makeWorkDir(parent, mode);
    workDirs.push(workDir);
    return { workDir, isolation: await make(workDir) };
  };
  const renew = async (known: Promise<Place> | null): Promise<Place> => {
    const place = await known?.catch(() => null);
    return place && (await isWhole(place.workDir, place.isolation.copies)) ? place : makePlace();
  };
  return {
    // Serialized, so that processes started together use the same folder.
    current: () => {
      making = renew(making);
      return making;
    },
    async remove() {
      await making?.catch(() => {});
      for (const dir of workDirs) await rm(dir, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
