import { statSync } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { VisibleTable } from '../../core/table/visibleTable.ts';
import { countLookup } from '../cacheCounts.ts';

/**
 * Copies of tables without the columns that are hidden from somebody, as local files. User SQL reads such a file as it is; without
 * one, the table is loaded into the process first, which takes longer than most queries. A version that is asked for a second time
 * with the same columns is written to a file. Any file may be lost at any time.
 */
export interface VisibleFiles {
  /** The path of the file; null if there is none. */
  find(visible: VisibleTable): string | null;
  /** Called where there was none; may write it. Callers need not wait for it. */
  offer(visible: VisibleTable, write: (path: string) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/** Unused files are deleted after this time, far longer than any query that was given the file may run. */
const keptMs = 15 * 60_000;
const mostKnown = 1_000;
/** Of all files together; and what a table may take that is worth a copy. */
const mostBytes = 2 * 1024 ** 3;
const mostTableBytes = 256 * 1024 ** 2;

interface Entry {
  path: string | null;
  bytes: number;
  making: boolean;
  usedMs: number;
}

export function openVisibleFiles(makeFolder: () => Promise<string>, onTrouble: (error: unknown) => void): VisibleFiles {
  const entries = new Map<string, Entry>();
  let folder: string | null = null;
  let made = 0;
  let last: Promise<void> = Promise.resolve();

  const sumBytes = () => [...entries.values()].reduce((sum, { bytes }) => sum + bytes, 0);

  const dropOld = async (): Promise<void> => {
    const old = Date.now() - keptMs;
    for (const [key, { path, making, usedMs }] of entries) {
      if (making || (usedMs >= old && entries.size <= mostKnown)) continue;
      entries.delete(key);
      if (path !== null) await rm(path, { force: true });
    }
  };

  const make = async (entry: Entry, write: (path: string) => Promise<void>): Promise<void> => {
    await dropOld();
    if (sumBytes() > mostBytes) return;
    folder ??= await makeFolder();
    // The folder may have been deleted by somebody.
    await mkdir(folder, { recursive: true, mode: 0o700 });
    made += 1;
    const path = join(folder, `${made}.parquet`);
    await write(path);
    entry.bytes = (await stat(path)).size;
    entry.path = path;
  };

  return {
    find(visible) {
      const entry = entries.get(keyOf(visible));
      // The file was deleted or overwritten by somebody.
      if (entry?.path && statSync(entry.path, { throwIfNoEntry: false })?.size !== entry.bytes) entry.path = null;
      if (entry) entry.usedMs = Date.now();
      countLookup('visible_files', entry?.path ? 'hit' : 'miss');
      return entry?.path ?? null;
    },
    async offer(visible, write) {
      const key = keyOf(visible);
      const entry = entries.get(key);
      if (!entry) entries.set(key, { path: null, bytes: 0, making: false, usedMs: Date.now() });
      if (!entry || entry.making || entry.path !== null || countBytes(visible) > mostTableBytes) return;
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
      await last;
      if (folder !== null) await rm(folder, { recursive: true, force: true });
    },
  };
}

function countBytes({ at }: VisibleTable): number {
  return at.layers.reduce((sum, layer) => sum + (layer.kind === 'log' ? 0 : layer.bytes), 0);
}

/** What is in the file: the version, and the columns whose values are shown. */
function keyOf({ at, columns }: VisibleTable): string {
  return `${at.versionUid} ${columns.flatMap(({ id, masked }) => (masked ? [] : [id])).join(' ')}`;
}
