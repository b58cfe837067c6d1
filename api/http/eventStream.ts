import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';

/** How soon a client connects again when the stream ends. */
const retryMs = 2000;

/** Neither kept, nor held back by a proxy. */
export const eventHeaders = { 'Cache-Control': 'no-store, no-transform', 'X-Accel-Buffering': 'no' };

export interface StreamedEvent {
  id: string;
  name: string;
  data: object;
}

/**
 * Server-sent events (text/event-stream). Null keeps the connection alive. The iterator runs in the context of the caller, whose
 * rows it may see, and no faster than the client reads. Its signal is aborted when the client has gone; `end` is called last.
 */
export function streamEvents(follow: (signal: AbortSignal) => AsyncIterable<StreamedEvent | null>, end: () => void): Readable {
  const stream = new PassThrough();
  const gone = new AbortController();
  const { signal } = gone;
  // The stream is destroyed with the response that it is the body of.
  stream.once('close', () => gone.abort());
  const send = async () => {
    stream.write(`retry: ${retryMs}\n\n`);
    for await (const event of follow(signal)) {
      const text = event ? `event: ${event.name}\nid: ${event.id}\ndata: ${JSON.stringify(event.data)}\n\n` : ': nothing new\n\n';
      if (signal.aborted) return;
      if (!stream.write(text)) await once(stream, 'drain', { signal });
    }
  };
  // What goes wrong ends the stream; the client connects again and is told then.
  send()
    .catch(() => {})
    .finally(() => {
      end();
      stream.end();
    });
  return stream;
}
