import { S3Client, S3ServiceException } from '@aws-sdk/client-s3';
import { PartAwayError } from '../../core/errors.ts';
import type { BlobConfig } from '../config.ts';

export type S3Config = Extract<BlobConfig, { kind: 's3' }>;

export interface S3Options {
  /** Addresses as `endpoint/bucket/key` instead of `bucket.endpoint/key`. */
  pathStyle: boolean;
  /** Attempts per request, the first one included. */
  maxAttempts: number;
  connectTimeoutMs: number;
  /** Limit until the response begins, and between its chunks. */
  requestTimeoutMs: number;
  cacheBytes: number;
  /** So long a file stays in the cache that nobody uses. Its blob may be gone: then this is how long its bytes stay on the machine. */
  cacheKeptMs: number;
  /** Larger files are sent in parts of this size. */
  partBytes: number;
}

export function defaultOptions(config: S3Config): S3Options {
  return {
    // Stores with a custom endpoint rarely support bucket names as subdomains.
    pathStyle: config.endpoint !== null,
    maxAttempts: 4,
    connectTimeoutMs: 3_000,
    requestTimeoutMs: 30_000,
    cacheBytes: 20 * 1024 ** 3,
    cacheKeptMs: 24 * 3_600_000,
    partBytes: 16 * 1024 ** 2,
  };
}

export function createS3Client(config: S3Config, options: S3Options): S3Client {
  return new S3Client({
    region: config.region,
    ...(config.endpoint ? { endpoint: config.endpoint } : {}),
    forcePathStyle: options.pathStyle,
    credentials: { accessKeyId: config.accessKeyId, secretAccessKey: config.secretAccessKey },
    maxAttempts: options.maxAttempts,
    requestHandler: {
      connectionTimeout: options.connectTimeoutMs,
      requestTimeout: options.requestTimeoutMs,
      throwOnRequestTimeout: true,
      socketTimeout: options.requestTimeoutMs,
    },
    // We send SHA-256 with every upload and check it on every download; the SDK's own checksums need a form of
    // request that many compatible stores do not know.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
}

export function isNotFound(error: unknown): boolean {
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404 && error.name !== 'NoSuchBucket';
}

/** The connection broke in the middle of a response. (Earlier failures are retried by the SDK.) */
export class BrokenOff extends Error {}

/** Whether a later try may succeed: the store is unreachable, overloaded or too slow. False for refusals such as a wrong key. */
function isAway(error: unknown): boolean {
  if (error instanceof BrokenOff) return true;
  const metadata = (error as Partial<S3ServiceException>).$metadata;
  // The SDK puts the number of attempts on every request error, and a status when there was a response.
  if (!metadata) return false;
  const status = metadata.httpStatusCode;
  return status === undefined || status === 408 || status === 429 || status >= 500;
}

/** The error to throw from the store, with the SDK's error as its cause. */
export function explainError(error: unknown, doing: string): Error {
  if (isAway(error)) {
    return new PartAwayError('The file store cannot be reached at the moment.', 'Try again in a few seconds.', {
      headers: { 'Retry-After': '5' },
      cause: error,
    });
  }
  if (!(error instanceof S3ServiceException)) return error instanceof Error ? error : new Error(String(error));
  return new Error(`the file store refused while ${doing}: ${error.name}: ${error.message}`, { cause: error });
}
