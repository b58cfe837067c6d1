import { writeFile } from 'node:fs/promises';
import { json } from 'node:stream/consumers';
import { BlobError } from '../../store/blobs/blobStore.ts';
import { anchorsPrefix } from '../../store/blobs/keys.ts';
import type { Services } from '../../store/services.ts';

/** The head of a chain when it was last verified. Stored in the blob store, out of reach of those who can write to the database. */
export interface Anchor {
  seq: number;
  hash: string;
}

const mostTries = 10;

/** The furthest anchor, or null. */
export async function readAnchor(services: Services, accountId: string, scope: string): Promise<{ anchor: Anchor | null; keys: string[] }> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await findAnchor(services, anchorsPrefix(accountId, scope));
    } catch (error) {
      // Somebody moved the anchor between our listing and our reading.
      if (!(error instanceof BlobError) || error.kind !== 'missing' || attempt === mostTries) throw error;
    }
  }
}

async function findAnchor(services: Services, prefix: string): Promise<{ anchor: Anchor | null; keys: string[] }> {
  let anchor: Anchor | null = null;
  const keys: string[] = [];
  for await (const { key } of services.blobs.list(prefix)) {
    const found = (await json(await services.blobs.read(key))) as Anchor;
    keys.push(key);
    if (!anchor || found.seq > anchor.seq) anchor = found;
  }
  return { anchor, keys };
}

/** Writes the new anchor, then removes the old ones. */
export async function moveAnchor(services: Services, accountId: string, scope: string, anchor: Anchor, before: string[]): Promise<void> {
  const draft = await services.blobs.draft();
  await writeFile(draft, JSON.stringify(anchor));
  const { key } = await services.blobs.put(anchorsPrefix(accountId, scope), draft, 'json');
  for (const old of before) if (old !== key) await services.blobs.remove(old);
}
