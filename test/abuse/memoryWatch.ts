import { readFileSync } from 'node:fs';
import { type Product, readProcesses, snapshotTree } from '../faults/product.ts';

/** The most memory, in bytes, that each part had at a time, its children counted apart from it. */
export type Peaks = Map<string, number>;

/** Looks at all processes of the product several times a second. */
export function watchMemory(product: Product, intervalMs = 200): { stop(): Peaks } {
  const peaks: Peaks = new Map();
  const look = () => {
    for (const [name, bytes] of measureMemory(product)) if (bytes > (peaks.get(name) ?? 0)) peaks.set(name, bytes);
  };
  look();
  const timer = setInterval(look, intervalMs);
  return {
    stop() {
      clearInterval(timer);
      look();
      return peaks;
    },
  };
}

/** The memory of each part now. */
export function measureMemory(product: Product): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [pid, name] of nameProcesses(product)) {
    const bytes = readResident(pid);
    if (bytes > 0) sums.set(name, (sums.get(name) ?? 0) + bytes);
  }
  return sums;
}

/** Every process, with the part that it is or belongs to. */
export function nameProcesses(product: Product): Map<number, string> {
  const parts = new Map([...readProcesses(product)].map(([name, { pid }]) => [pid, name]));
  return new Map([...snapshotTree(product).keys()].map((pid) => [pid, parts.get(pid) ?? nameOfChild(pid, parts)]));
}

function nameOfChild(pid: number, parts: Map<number, string>): string {
  for (let at = readParent(pid); at > 1; at = readParent(at)) {
    const name = parts.get(at);
    if (name) return `${name}'s children`;
  }
  return 'npm start';
}

function readParent(pid: number): number {
  return Number(/^PPid:\s+(\d+)/m.exec(readStatus(pid))?.[1] ?? 0);
}

/** Without pages that it shares with others, which is most of what processes of PostgreSQL have. */
function readResident(pid: number): number {
  const status = readStatus(pid);
  const kib = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
  return (kib('RssAnon') + kib('RssFile')) * 1024;
}

function readStatus(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}
