import { Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { DomainError } from '../../core/errors.ts';

const unpackers = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['br', createBrotliDecompress],
]);

/** Undoes the body's Content-Encoding. Readers count what comes out, so a small body cannot become a large one unnoticed. */
export function unpackChunks(coding: string | undefined, sent: AsyncGenerator<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  const name = coding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return sent;
  return unpack(name, sent);
}

async function* unpack(coding: string, sent: AsyncGenerator<Buffer>): AsyncGenerator<Buffer, void, undefined> {
  const unpacker = unpackers.get(coding)?.();
  if (!unpacker)
    throw new DomainError(
      'unsupported-media',
      `The body's Content-Encoding, ${coding.slice(0, 80)}, is not one that the service takes.`,
      'Send the body as it is, or packed once with gzip or br.',
      { headers: { 'Accept-Encoding': 'gzip, br' } },
    );
  const packed = Readable.from(sent);
  packed.on('error', (error) => unpacker.destroy(error));
  packed.pipe(unpacker);
  try {
    for await (const chunk of unpacker) yield chunk as Buffer;
  } catch (error) {
    if (!/^(Z_|ERR_BROTLI|ERR__ERROR_|ERR_PADDING)/.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw new DomainError(
      'malformed-request',
      `The body is not packed with ${coding}, or it is cut off.`,
      'Pack it again, or send it as it is.',
    );
  } finally {
    packed.destroy();
    unpacker.destroy();
  }
}
