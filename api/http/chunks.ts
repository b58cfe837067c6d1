import type { IncomingMessage } from 'node:http';
import { DomainError } from '../../core/errors.ts';
import { unpackChunks } from './unpack.ts';

/** How slowly a body may come. Time that the service itself takes does not count. */
export interface Pace {
  /** A sender may be silent this long, and no longer; bytes give time back. */
  patienceMs: number;
  bytesPerSecond: number;
  /** For the whole body. */
  wholeMs: number;
}

export const usualPace: Pace = { patienceMs: 30_000, bytesPerSecond: 1024, wholeMs: 30 * 60_000 };
/** For those who have shown no credential. */
export const publicPace: Pace = { ...usualPace, wholeMs: 120_000 };

/** The bytes of a request, unpacked. A sender who disconnects is not a failure of the service. */
export function readChunks(request: IncomingMessage, pace: Pace = usualPace): AsyncGenerator<Buffer, void, undefined> {
  return unpackChunks(request.headers['content-encoding'], readSent(request, pace));
}

/** The bytes as they are sent. */
async function* readSent(request: IncomingMessage, pace: Pace): AsyncGenerator<Buffer, void, undefined> {
  const sent = request.iterator({ destroyOnReturn: false });
  let left = pace.patienceMs;
  let wholeLeft = pace.wholeMs;
  try {
    for (;;) {
      const began = performance.now();
      const next = await withinMs(sent.next(), Math.min(left, wholeLeft));
      const waited = performance.now() - began;
      if (next.done) return;
      const chunk = next.value as Buffer;
      left = Math.min(pace.patienceMs, left - waited + (chunk.length / pace.bytesPerSecond) * 1000);
      wholeLeft -= waited;
      yield chunk;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
    throw new DomainError('malformed-request', 'The connection ended before the body did.', 'Send the request again.', { cause: error });
  }
}

/** A timer alone: an `AbortController` for each body would cost more than reading it. */
function withinMs<T>(answer: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const refuse = () =>
      reject(new DomainError('malformed-request', 'The body came too slowly.', 'Send it again, over a faster line if there is one.'));
    const timer = setTimeout(refuse, Math.max(0, ms));
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

const patienceMs = 1_000;
const mostBytes = 128 * 1024 * 1024;

/** Clients that are still sending do not read the answer, so the rest of a refused body is read first, if it comes soon. */
export async function drainBody(request: IncomingMessage): Promise<void> {
  let size = 0;
  try {
    for await (const chunk of readSent(request, { ...usualPace, wholeMs: patienceMs })) {
      size += chunk.length;
      if (size > mostBytes) return;
    }
  } catch {
    // What is left is not wanted.
  }
}
