import { givenUp } from './pool.ts';
import type { QueryProcess } from './process.ts';

/** On abort kills the process, because a query may not react to an interrupt. */
export async function untilAborted<T>(signal: AbortSignal | undefined, process: QueryProcess, work: () => Promise<T>): Promise<T> {
  if (signal?.aborted) throw givenUp();
  const stop = () => process.kill();
  signal?.addEventListener('abort', stop, { once: true });
  try {
    return await work();
  } catch (error) {
    throw signal?.aborted ? givenUp() : error;
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}
