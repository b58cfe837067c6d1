import { availableParallelism } from 'node:os';
import { createGate } from '../../store/blobs/gate.ts';
import type { Pulse } from '../compaction/compactTable.ts';

/** Files are held in memory while they are read: only so many at a time in one process, however many jobs there are. */
const gate = createGate(Math.max(1, Math.min(4, availableParallelism() - 1)));

export async function withMemorySlot<T>(pulse: Pulse, work: () => Promise<T>): Promise<T> {
  return gate(async () => {
    pulse.signal?.throwIfAborted();
    return work();
  });
}
