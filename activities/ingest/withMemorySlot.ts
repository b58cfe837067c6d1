import { availableParallelism } from 'node:os';
import { limitConcurrency } from '../../store/blobs/limitConcurrency.ts';
import type { ActivityContext } from '../activityContext.ts';

/** Files are held in memory while they are read, so a process reads only so many at a time. */
const gate = limitConcurrency(Math.max(1, Math.min(4, availableParallelism() - 1)));

export async function withMemorySlot<T>(activity: ActivityContext, work: () => Promise<T>): Promise<T> {
  return gate(async () => {
    activity.signal?.throwIfAborted();
    return work();
  });
}
