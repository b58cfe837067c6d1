import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { GetObjectCommand, HeadObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { BlobError } from './blobStore.ts';
import { BrokenOff, isNotFound, type S3Options } from './s3Client.ts';

/** An object in a bucket, and the key and hash of its blob. */
export interface S3Object {
  bucket: string;
  path: string;
  key: string;
  sha256: string;
}

/** Uploads a file and verifies what was stored; on a mismatch it uploads once more. */
export async function uploadFile(client: S3Client, object: S3Object, localPath: string, size: number, options: S3Options): Promise<void> {
  const checksum = Buffer.from(object.sha256, 'hex').toString('base64');
  for (let tries = 0; tries < 2; tries++) {
    const confirmed =
      size <= options.partBytes
        ? await sendWhole(client, object, localPath, checksum)
        : await sendParts(client, object, localPath, options);
    if (confirmed || (await isStored(client, object, size, checksum))) return;
  }
  throw new BlobError('corrupt', object.key);
}

/** True when the response confirms the checksum. */
async function sendWhole(client: S3Client, { bucket, path }: S3Object, localPath: string, checksum: string): Promise<boolean> {
  // From memory, so that the SDK can retry.
  const body = await readFile(localPath);
  const answer = await client.send(new PutObjectCommand({ Bucket: bucket, Key: path, Body: body, ChecksumSHA256: checksum }));
  return answer.ChecksumSHA256 === checksum;
}

async function sendParts(client: S3Client, { bucket, path }: S3Object, localPath: string, { partBytes }: S3Options): Promise<boolean> {
  const params = { Bucket: bucket, Key: path, Body: createReadStream(localPath), ChecksumAlgorithm: 'SHA256' as const };
  await new Upload({ client, params, partSize: partBytes, queueSize: 2 }).done();
  return false;
}

async function isStored(client: S3Client, { bucket, path }: S3Object, size: number, checksum: string): Promise<boolean> {
  const head = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: path, ChecksumMode: 'ENABLED' }));
  // For a multipart upload this is a checksum of the parts' checksums, marked by a dash: it cannot be compared.
  const whole = head.ChecksumSHA256?.includes('-') ? undefined : head.ChecksumSHA256;
  return head.ContentLength === size && (whole === undefined || whole === checksum);
}

/** Downloads a file and verifies its hash. Retries wrong content once, and broken connections up to `maxAttempts`. */
export async function downloadFile(client: S3Client, object: S3Object, localPath: string, options: S3Options): Promise<void> {
  let wrong = 0;
  let broken = 0;
  while (true) {
    try {
      if ((await receive(client, object, localPath, options)) === object.sha256) return;
      wrong += 1;
      if (wrong === 2) throw new BlobError('corrupt', object.key);
    } catch (error) {
      await rm(localPath, { force: true });
      if (isNotFound(error)) throw new BlobError('missing', object.key, { cause: error });
      if (!(error instanceof BrokenOff) || ++broken === options.maxAttempts) throw error;
      await delay(100 * 2 ** broken);
    }
  }
}

async function receive(client: S3Client, { bucket, path }: S3Object, localPath: string, { requestTimeoutMs }: S3Options): Promise<string> {
  const answer = await client.send(new GetObjectCommand({ Bucket: bucket, Key: path }));
  const body = answer.Body as Readable;
  const hash = createHash('sha256');
  const timer = setTimeout(() => body.destroy(new Error('the file store stopped sending')), requestTimeoutMs);
  try {
    await pipeline(
      body,
      async function* (pieces: AsyncIterable<Buffer>) {
        for await (const piece of pieces) {
          timer.refresh();
          hash.update(piece);
          yield piece;
        }
      },
      createWriteStream(localPath),
    );
  } catch (error) {
    throw isLocal(error) ? error : new BrokenOff('the connection to the file store broke off', { cause: error });
  } finally {
    clearTimeout(timer);
  }
  return hash.digest('hex');
}

/** Errors of the local disk, which retrying the download cannot fix. */
function isLocal(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'ENOSPC' || code === 'EACCES' || code === 'EDQUOT' || code === 'EMFILE';
}
