import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { BlobError, type BlobStore } from '../../store/blobs/blobStore.ts';
import { workbookPrefix } from '../../store/blobs/keys.ts';

const atATime = 6;

/** Packs a stream into a new file of the place; returns its key. */
export async function putPacked(place: BlobStore, prefix: string, content: Readable, extension: string): Promise<string> {
  const draft = await place.draft();
  try {
    await pipeline(content, createGzip({ level: 3 }), createWriteStream(draft));
    return (await place.put(prefix, draft, `${extension}.gz`)).key;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Fails when the file is not whole. */
export async function readPacked(place: BlobStore, key: string): Promise<Readable> {
  const unpacked = createGunzip();
  const packed = await place.read(key);
  packed.on('error', (error) => unpacked.destroy(error));
  return packed.pipe(unpacked);
}

export async function putLines(place: BlobStore, prefix: string, lines: AsyncIterable<string>): Promise<string> {
  const withEnds = async function* () {
    for await (const line of lines) yield `${line}\n`;
  };
  return putPacked(place, prefix, Readable.from(withEnds()), 'list');
}

export async function* readLines(place: BlobStore, key: string): AsyncGenerator<string> {
  const content = await readPacked(place, key);
  let failure: Error | null = null;
  content.on('error', (error) => {
    failure = error;
  });
  for await (const line of createInterface({ input: content, crlfDelay: Number.POSITIVE_INFINITY })) yield line;
  // The reader of lines takes a broken stream for one that ended.
  if (failure) throw failure;
}

/** Copies a file under the same key. Its content is checked against the hash in its name. */
export async function copyFile(from: BlobStore, to: BlobStore, key: string): Promise<void> {
  const draft = await to.draft();
  try {
    await pipeline(await from.read(key), createWriteStream(draft));
    const slash = key.lastIndexOf('/');
    const name = key.slice(slash + 1);
    const put = await to.put(key.slice(0, slash), draft, name.slice(name.indexOf('.') + 1));
    if (put.key !== key) throw new Error(`${key} changed while it was copied`);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Fails with a BlobError when the file is missing or not what its name says. */
export async function readWhole(from: BlobStore, key: string): Promise<void> {
  const content = await from.read(key);
  content.resume();
  await finished(content);
}

/** Whether the file is there as its name says. */
export async function isWhole(from: BlobStore, key: string): Promise<boolean> {
  try {
    await readWhole(from, key);
    return true;
  } catch (error) {
    if (error instanceof BlobError) return false;
    throw error;
  }
}

/** A few at a time; the first failure ends it. */
export async function forEach<T>(items: AsyncIterable<T> | Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const running = new Set<Promise<void>>();
  try {
    for await (const item of items) {
      const one: Promise<void> = work(item).finally(() => running.delete(one));
      running.add(one);
      if (running.size >= atATime) await Promise.race(running);
    }
    await Promise.all(running);
  } finally {
    await Promise.allSettled(running);
  }
}

export async function listSizes(store: BlobStore, prefix: string): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for await (const { key, size } of store.list(prefix)) sizes.set(key, size);
  return sizes;
}

/** Keys as they are listed, one workbook after the other. */
export async function* groupByWorkbook(keys: AsyncIterable<string>): AsyncGenerator<{ prefix: string; keys: string[] }> {
  let group = { prefix: '', keys: [] as string[] };
  for await (const key of keys) {
    const [accountId = '', id = ''] = key.split('/');
    const prefix = workbookPrefix({ accountId, id });
    if (group.prefix !== prefix) {
      if (group.keys.length > 0) yield group;
      group = { prefix, keys: [] };
    }
    group.keys.push(key);
  }
  if (group.keys.length > 0) yield group;
}
