import type { IncomingMessage } from 'node:http';
import { DomainError } from '../../core/errors.ts';

/** The bytes of a request. A sender who disconnects is not a failure of the service. */
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

/** Clients that are still sending do not read the answer, so a small rest of a refused body is read first. */
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
