import { statSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type CacheName, countLookup } from '../cacheCounts.ts';

/** Unused files are deleted after this time, far longer than any query that was given the file may run. */
const usuallyKeptMs = 15 * 60_000;

/**
 * A cache of local files by key, for what is asked for a second time. One is written at a time. Any file may be lost at any time.
 */
export interface LocalFiles<Content> {
  /** The file, if there is one that `isFit`. */
  find(key: string, isFit?: (content: Content) => boolean): (Content & { path: string }) | null;
  /** Called where there was none; may write one, unless that which there is `isEnough`. Callers need not wait for it. */
  offer(key: string, write: (path: string) => Promise<Content>, isEnough?: (content: Content) => boolean): Promise<void>;
  close(): Promise<void>;
}

interface KeptFile<Content> {
  path: string;
  content: Content;
  bytes: number;
  /** Size and time of change, to notice when it was overwritten. */
  mark: string;
}

interface Entry<Content> {
  file: KeptFile<Content> | null;
  making: boolean;
  usedMs: number;
}

export function openLocalFiles<Content extends object>(
  cache: CacheName,
  makeFolder: () => Promise<string>,
  onTrouble: (error: unknown) => void,
  most: { known: number; bytes: number; keptMs?: number },
): LocalFiles<Content> {
  const { keptMs = usuallyKeptMs } = most;
  const entries = new Map<string, Entry<Content>>();
  let made = 0;
  let folder: string | null = null;
  let last: Promise<void> = Promise.resolve();
  /** Files that `find` no longer returns; queries may still be reading them. */
  let retired: { path: string; bytes: number; usedMs: number }[] = [];

  const retire = ({ file, usedMs }: Entry<Content>): void => {
    if (file) retired.push({ path: file.path, bytes: file.bytes, usedMs });
  };

  const dropOld = async (): Promise<void> => {
    const old = Date.now() - keptMs;
    for (const [key, entry] of entries) {
      if (entry.making || (entry.usedMs >= old && entries.size <= most.known)) continue;
      entries.delete(key);
      retire(entry);
    }
    const due = retired.filter(({ usedMs }) => usedMs < old);
    retired = retired.filter(({ usedMs }) => usedMs >= old);
    for (const { path } of due) await rm(path, { force: true });
  };

  const sumBytes = () =>
    [...retired, ...[...entries.values()].flatMap(({ file }) => file ?? [])].reduce((sum, { bytes }) => sum + bytes, 0);

  const make = async (entry: Entry<Content>, write: (path: string) => Promise<Content>): Promise<void> => {
    await dropOld();
    if (sumBytes() > most.bytes) return;
    folder ??= await makeFolder();
    // The folder may have been deleted by somebody.
    await mkdir(folder, { recursive: true, mode: 0o700 });
    made += 1;
    const path = join(folder, `${made}.parquet`);
    const content = await write(path);
    retire(entry);
    entry.file = { path, content, ...readMark(path) };
  };

  // Also where nothing new is made: the table of a file may be gone.
  const sweep = setInterval(() => {
    last = last.then(dropOld).catch(onTrouble);
  }, keptMs / 3);
  sweep.unref();

  return {
    find(key, isFit = () => true) {
      const entry = entries.get(key);
      // The file was deleted or overwritten by somebody.
      if (entry?.file && readMark(entry.file.path).mark !== entry.file.mark) entry.file = null;
      const file = entry?.file && isFit(entry.file.content) ? entry.file : null;
      countLookup(cache, file ? 'hit' : 'miss');
      if (entry && file) entry.usedMs = Date.now();
      return file && { ...file.content, path: file.path };
    },
    async offer(key, write, isEnough = () => true) {
      const entry = entries.get(key);
      if (!entry) entries.set(key, { file: null, making: false, usedMs: Date.now() });
      if (!entry || entry.making || (entry.file && isEnough(entry.file.content))) return;
      entry.making = true;
      last = last
        .then(() => make(entry, write))
        .catch(onTrouble)
        .finally(() => {
          entry.making = false;
        });
      await last;
    },
    async close() {
      clearInterval(sweep);
      await last;
      if (folder !== null) await rm(folder, { recursive: true, force: true });
    },
  };
}

function readMark(path: string): { mark: string; bytes: number } {
  const info = statSync(path, { throwIfNoEntry: false });
  return info ? { mark: `${info.size} ${info.mtimeMs}`, bytes: info.size } : { mark: 'gone', bytes: 0 };
}
