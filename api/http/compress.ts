import type { IncomingMessage } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';
import Negotiator from 'negotiator';
import type { Coding } from './validators.ts';

/** Smaller bodies fit in one packet anyway. */
const smallestBytes = 1024;

/** Parquet files, workbooks and pictures are compressed in themselves; events must not wait for others. */
const compressible = /^text\/(?!event-stream)|[/+](json|yaml|xml|javascript|x-ndjson)\b|arrow\.stream$/;

export const isCompressible = (type: string): boolean => compressible.test(type);

/** Where the client takes several as gladly, the first. */
const offered = ['br', 'gzip', 'identity'];

/** The published types do not know the preference of the server yet. */
type EncodingChooser = { encodings(available: string[], options: { preferred: string[] }): string[] };

export function chooseCoding(request: IncomingMessage, type: string, size: number): Coding | null {
  if (!request.headers['accept-encoding'] || !isCompressible(type)) return null;
  if (size < smallestBytes) return null;
  const [coding] = (new Negotiator(request) as EncodingChooser).encodings(offered, { preferred: offered });
  return coding === 'br' || coding === 'gzip' ? coding : null;
}

/** The quickest levels: on rows they reach most of what the slow ones do, at several times the speed. */
const encoders = {
  br: () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  gzip: () => createGzip({ level: 1 }),
};

/** Reads no faster than the result is read. Ending either stream ends the other, so that nothing stays open. */
export function compress(data: string | Buffer | Readable, coding: Coding): Readable {
  const encoder = encoders[coding]();
  // The reader of the stream sees the errors.
  if (data instanceof Readable) pipeline(data, encoder, () => {});
  else encoder.end(data);
  return encoder;
}
