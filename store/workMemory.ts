import { AsyncLocalStorage } from 'node:async_hooks';

type Take = (bytes: number) => Promise<void>;

const scope = new AsyncLocalStorage<Take>();

/** Whoever asks for memory within `work` waits for `take`. */
export function withWorkMemory<T>(take: Take, work: () => T): T {
  return scope.run(take, work);
}

const little = 1024 * 1024;

/** Called before rows are read into memory. In a request it waits for its part of the budget, which it has until it is answered. */
export async function takeWorkMemory(bytes: number): Promise<void> {
  if (bytes > little) await scope.getStore()?.(bytes);
}
