import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { BlobStore } from './blobStore.ts';
import { openFolderStore } from './folderStore.ts';

/** The blob store that the configuration names. */
export async function openBlobs(
  config: Pick<Config, 'blobs' | 'dataDir'>,
  { isPrivate, ...changes }: { cacheBytes?: number; isPrivate?: boolean } = {},
): Promise<BlobStore> {
  const { blobs, dataDir } = config;
  if (blobs.kind === 'file') return openFolderStore(blobs.dir, { isPrivate });
  // Imported only when needed, because its SDK is slow to load.
  const { openS3Store } = await import('./s3Store.ts');
  return openS3Store(blobs, join(dataDir, 'blob-cache'), changes);
}
