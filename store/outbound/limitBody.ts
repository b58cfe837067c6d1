import { type Duplex, PassThrough, type Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { OutboundFailure, toOutboundFailure } from './outboundFailure.ts';

const decoders: Record<string, () => Duplex> = {
  identity: () => new PassThrough(),
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: () => createInflate(),
  br: () => createBrotliDecompress(),
};

/** The body of an answer, decoded, which fails once it is larger than allowed. Destroying it ends the connection. */
export function limitBody(body: Readable, encoding = 'identity', mostBytes: number): Readable {
  const decoder = decoders[encoding.trim().toLowerCase()]?.();
  let bytes = 0;
  const limited = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= mostBytes) done(null, chunk);
      else done(new OutboundFailure('too-large', `the answer is larger than ${mostBytes} bytes`));
    },
  });
  const fail = (error: unknown) => limited.destroy(toOutboundFailure(error));
  // Whoever reads sees the error anyway; without a listener it would end the process when nobody reads.
  limited.on('error', () => {});
  limited.once('close', () => {
    body.destroy();
    decoder?.destroy();
  });
  body.on('error', fail);
  if (!decoder) fail(new OutboundFailure('broken', 'the answer is encoded in a way that is not read'));
  else body.pipe(decoder.on('error', fail)).pipe(limited);
  return limited;
}
