import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DraftStore } from '../../../store/blobs/blobStore.ts';

/**
 * Stands in for the blob store, which this process does not reach: what is put stays in the folder, and its name is its key. Names
 * begin with `mark`, so that several may write to one folder.
 */
export function openOutFolder(dir: string, mark = ''): DraftStore {
  let files = 0;
  const next = (ending: string) => {
    files += 1;
    return `${mark}${files}.${ending}`;
  };
  return {
    draft: async () => join(dir, next('draft')),
    async put(_prefix, localPath, ext) {
      const key = next(ext);
      await rename(localPath, join(dir, key));
      return { key, size: (await stat(join(dir, key))).size, sha256: '' };
    },
    remove: (key) => rm(join(dir, key), { force: true }),
  };
}
