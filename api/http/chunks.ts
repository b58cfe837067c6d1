import type { IncomingMessage } from 'node:http';
import { DomainError } from '../../core/errors.ts';

/** The bytes of a request as they come. A sender who goes away in the middle is no failure of ours. */
export async function* readChunks(request: IncomingMessage): AsyncGenerator<Buffer, void, undefined> {
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
    throw new DomainError('malformed-request', 'The connection ended before the body did.', 'Send the request again.', { cause: error });
  }
}

const patienceMs = 250;
const mostBytes = 8 * 1024 * 1024;

/** Whoever is still sending does not read the answer: what little is left of a refused body is taken in first. */
export async function drainBody(request: IncomingMessage): Promise<void> {
  const until = AbortSignal.timeout(patienceMs);
  let size = 0;
  const taken = (async () => {
    for await (const chunk of readChunks(request)) {
      size += chunk.length;
      if (size > mostBytes || until.aborted) return;
    }
  })();
  const late = new Promise<void>((resolve) => until.addEventListener('abort', () => resolve(), { once: true }));
  await Promise.race([taken, late]).catch(() => {});
}
