import { readFileSync } from 'node:fs';
import { nameProcesses } from '../abuse/memoryWatch.ts';
import type { Product } from '../faults/product.ts';

/** What was used until now, in milliseconds. */
export interface ProcessorTime {
  /** By each part, with its children that ended. */
  parts: Map<string, number>;
  /** By other machines on the same hardware, while this one wanted to work. */
  stolen: number;
}

const tickMs = 10;

export function measureProcessor(product: Product): ProcessorTime {
  const parts = new Map<string, number>();
  for (const [pid, name] of nameProcesses(product)) parts.set(name, (parts.get(name) ?? 0) + readTicks(pid) * tickMs);
  const stolen = Number(readFileSync('/proc/stat', 'utf8').split('\n')[0]?.trim().split(/\s+/)[8] ?? 0) * tickMs;
  return { parts, stolen };
}

function readTicks(pid: number): number {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return 0;
  }
  // After the name, which may hold anything: state is the third field, own and children's times the 14th to 17th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
}
