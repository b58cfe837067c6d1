import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Config } from '../config.ts';
import type { BlobStore } from './blobStore.ts';

/** The blob store that the configuration names. (A first folder driver; the S3 driver joins it.) */
export async function openBlobs(config: Pick<Config, 'blobs' | 'dataDir'>): Promise<BlobStore> {
  if (config.blobs.kind !== 'file') throw new Error('BLOB_URL: only a folder so far');
  const root = config.blobs.dir;
  const drafts = join(root, '.drafts');
  await mkdir(drafts, { recursive: true });
  const pathOf = (key: string) => join(root, key);
  const sync = async (path: string) => {
    const handle = await open(path, 'r');
    await handle.sync();
    await handle.close();
  };
  return {
    draft: async () => join(drafts, randomUUID()),
    async put(prefix, localPath, ext) {
      const hash = createHash('sha256');
      await pipeline(createReadStream(localPath), hash);
      const sha256 = hash.digest('hex');
      const key = `${prefix}/${sha256}.${ext}`;
      const { size } = await stat(localPath);
      await sync(localPath);
      await mkdir(dirname(pathOf(key)), { recursive: true });
      await rename(localPath, pathOf(key));
      await sync(dirname(pathOf(key)));
      return { key, size, sha256 };
    },
    open: async () => ({ pathOf, release() {} }),
    read: async (key) => createReadStream(pathOf(key)),
    exists: (key) => access(pathOf(key)).then(() => true, () => false),
    remove: (key) => rm(pathOf(key), { force: true }),
    async *list(prefix) {
      for (const name of await readdir(join(root, prefix), { recursive: true }).catch(() => [])) {
        const info = await stat(join(root, prefix, name));
        if (info.isFile()) yield { key: `${prefix}/${name}`, size: info.size, modifiedAt: info.mtime };
      }
    },
    close: async () => {},
  };
}
