import { availableParallelism } from 'node:os';
import { limitConcurrency } from '../../store/blobs/limitConcurrency.ts';
import type { Pulse } from '../pulse.ts';

/** Files are held in memory while they are read: only so many at a time in one process, however many jobs there are. */
const gate = limitConcurrency(Math.max(1, Math.min(4, availableParallelism() - 1)));

export async function withMemorySlot<T>(pulse: Pulse, work: () => Promise<T>): Promise<T> {
  return gate(async () => {
    pulse.signal?.throwIfAborted();
    return work();
  });
}
