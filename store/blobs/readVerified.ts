import { open } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { BlobError } from './blobStore.ts';
import { errorCode, VerifyHash } from './files.ts';
import { parseKey } from './keys.ts';

/** A blob's local file as a stream. `onEnd` is called once, however the stream ends. */
export async function readVerified(path: string, key: string, onEnd: () => void): Promise<Readable> {
  const handle = await open(path, 'r').catch((error: unknown) => {
    onEnd();
    throw errorCode(error) === 'ENOENT' ? new BlobError('missing', key, { cause: error }) : error;
  });
  // What goes wrong is seen by whoever reads the stream.
  return pipeline(handle.createReadStream(), new VerifyHash(key, parseKey(key).sha256), () => onEnd());
}
