import { linkSync, mkdirSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning, readStamp } from './processes.ts';

interface Holder {
  pid: number;
  stamp: string;
}

/** One supervisor per data dir. Returns how to give the lock back; says who holds it otherwise. */
export function takeLock(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, 'lock');
  const mine: Holder = { pid: process.pid, stamp: readStamp(process.pid) ?? '' };
  const release = () => {
    if (readHolder(path)?.pid === process.pid) rmSync(path, { force: true });
  };
  for (let attempt = 0; attempt < 200; attempt++) {
    if (createWhole(path, mine)) return release;
    const holder = readHolder(path);
    if (holder && isRunning(holder.pid, holder.stamp)) throw new Error(explainHolder(dataDir, holder.pid));
    removeStale(path);
  }
  throw new Error(`The lock ${path} could not be taken. If no other copy uses this data dir, delete that file.`);
}

/** A lock file is never seen empty: it is written under another name and then linked, which fails if there is one. */
function createWhole(path: string, holder: Holder): boolean {
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, JSON.stringify(holder));
  try {
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    unlinkSync(temporary);
  }
}

/** Of two starts that both see a stale lock only one may remove it, or it would remove the other's fresh one. */
function removeStale(path: string): void {
  const guard = `${path}.takeover`;
  if (!createWhole(guard, { pid: process.pid, stamp: '' })) {
    const sinceMs = statSync(guard, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    // Whoever made it was killed in that moment.
    if (Date.now() - sinceMs > 5_000) rmSync(guard, { force: true });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    return;
  }
  const holder = readHolder(path);
  if (!holder || !isRunning(holder.pid, holder.stamp)) rmSync(path, { force: true });
  rmSync(guard, { force: true });
}

function readHolder(path: string): Holder | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Holder;
  } catch {
    return null;
  }
}

function explainHolder(dataDir: string, pid: number): string {
  return [
    `The data dir ${dataDir} is in use by another copy of the service (pid ${pid}).`,
    'Stop that one first, or give this one its own SVC_DATA_DIR, PORT and TEMPORAL_UI_PORT.',
  ].join('\n');
}
