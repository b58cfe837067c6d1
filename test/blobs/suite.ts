import { randomBytes } from 'node:crypto';
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BlobStore } from '../../store/blobs/blobStore.ts';
import { openBlobs } from '../../store/blobs/openBlobs.ts';
import { crashAndCheck, type StoreConfig } from './crash.ts';

export async function putBytes(store: BlobStore, prefix: string, bytes: Buffer, ext = 'parquet'): Promise<string> {
  const draft = await store.draft();
  await writeFile(draft, bytes);
  return (await store.put(prefix, draft, ext)).key;
}

export async function collect(stream: Readable): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

export async function listKeys(store: BlobStore, prefix: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) keys.push(key);
  return keys.sort();
}

export function missingKey(prefix: string): string {
  return `${prefix}/${randomBytes(32).toString('hex')}.parquet`;
}

/** What every driver must do. `corrupt` changes the stored bytes of a blob behind the store's back. */
export function testStore(name: string, setUp: () => Promise<{ config: StoreConfig; corrupt(key: string): Promise<void> }>): void {
  describe(`blob store: ${name}`, () => {
    let config: StoreConfig;
    let corrupt: (key: string) => Promise<void>;
    let store: BlobStore;

    beforeAll(async () => {
      ({ config, corrupt } = await setUp());
      store = await openBlobs(config);
    });
    afterAll(() => store.close());

    it('keeps a file under its hash and gives it back', async () => {
      const bytes = randomBytes(300_000);
      const draft = await store.draft();
      await writeFile(draft, bytes);
      const kept = await store.put('acc_1/wb_1', draft, 'parquet');
      expect(kept).toMatchObject({ size: 300_000, key: `acc_1/wb_1/${kept.sha256}.parquet` });
      expect(await store.exists(kept.key)).toBe(true);
      const opened = await store.open([kept.key, kept.key]);
      expect(await readFile(opened.pathOf(kept.key))).toEqual(bytes);
      opened.release();
      opened.release();
      expect(await collect(await store.read(kept.key))).toEqual(bytes);
      // The file was taken over.
      expect(await readdir(dirname(draft))).toEqual([]);
    });

    it.each([0, 1, 17 * 1024 * 1024])('keeps %i bytes', async (size) => {
      const bytes = randomBytes(size);
      const key = await putBytes(store, 'acc_1/sizes', bytes);
      expect((await collect(await store.read(key))).equals(bytes)).toBe(true);
      await store.remove(key);
    });

    it('gives the same content the same key, also at the same time, and counts it as new', async () => {
      const bytes = Buffer.from('the same');
      const first = await putBytes(store, 'acc_1/same', bytes);
      const [old] = await timesOf(store, 'acc_1/same');
      await new Promise((resolve) => setTimeout(resolve, 1100));
      const keys = await Promise.all(Array.from({ length: 8 }, () => putBytes(store, 'acc_1/same', bytes)));
      expect(new Set([first, ...keys]).size).toBe(1);
      const times = await timesOf(store, 'acc_1/same');
      expect(times).toHaveLength(1);
      expect(times[0]).toBeGreaterThan(old as number);
      expect(await putBytes(store, 'acc_2/same', bytes)).not.toBe(first);
    });

    it('counts a draft that lay for long as new when it is put', async () => {
      const draft = await store.draft();
      await writeFile(draft, 'old');
      await utimes(draft, new Date(0), new Date(0));
      await store.put('acc_1/old', draft, 'parquet');
      expect((await timesOf(store, 'acc_1/old'))[0]).toBeGreaterThan(Date.now() - 60_000);
    });

    it('lists what is below a prefix, and nothing else', async () => {
      const keys = await Promise.all(
        ['acc_3/wb_1', 'acc_3/wb_1/results', 'acc_3/wb_10', 'acc_30/wb_1'].map((prefix) => putBytes(store, prefix, randomBytes(10))),
      );
      expect(await listKeys(store, 'acc_3/wb_1')).toEqual(keys.slice(0, 2).sort());
      expect(await listKeys(store, 'acc_3')).toEqual(keys.slice(0, 3).sort());
      expect(await listKeys(store, '')).toEqual(expect.arrayContaining(keys));
      expect(await listKeys(store, 'acc_99')).toEqual([]);
      for await (const blob of store.list('acc_30')) expect(blob).toMatchObject({ size: 10, modifiedAt: expect.any(Date) });
    });

    it('removes, and does not mind when there is none', async () => {
      const key = await putBytes(store, 'acc_4/wb_1', randomBytes(10));
      await store.remove(key);
      await store.remove(key);
      expect(await store.exists(key)).toBe(false);
      await expect(store.open([key])).rejects.toMatchObject({ kind: 'missing', key });
      await expect(store.read(key)).rejects.toMatchObject({ kind: 'missing', key });
    });

    it('removes what is old, and not what was put since', async () => {
      const key = await putBytes(store, 'acc_4/wb_3', randomBytes(10));
      expect(await store.removeOld(key, new Date(Date.now() - 3_600_000))).toBe(false);
      expect(await store.exists(key)).toBe(true);
      expect(await store.removeOld(key, new Date(Date.now() + 3_600_000))).toBe(true);
      expect(await store.exists(key)).toBe(false);
      expect(await store.removeOld(key, new Date())).toBe(true);
    });

    it('leaves no local file behind when it cannot keep it', async () => {
      const draft = await store.draft();
      await writeFile(draft, 'x');
      await expect(store.put('acc_4/wb_4', draft, 'not an extension')).rejects.toThrow();
      expect(await readdir(dirname(draft))).toEqual([]);
    });

    it('says which blob is missing among several', async () => {
      const there = await putBytes(store, 'acc_4/wb_2', randomBytes(10));
      const missing = missingKey('acc_4/wb_2');
      await expect(store.open([there, missing])).rejects.toThrow(`blob ${missing} is missing`);
    });

    it('refuses names that are no keys', async () => {
      const hash = 'a'.repeat(64);
      for (const key of [
        `../${hash}.parquet`,
        `/etc/${hash}.parquet`,
        `acc/../${hash}.parquet`,
        `${hash}.parquet`,
        'acc/wb',
        `acc/.drafts/${hash}.x`,
        '',
      ]) {
        await expect(store.open([key])).rejects.toThrow('not a key');
        await expect(store.remove(key)).rejects.toThrow('not a key');
      }
      for (const prefix of ['..', '.drafts', '', 'acc/', '/acc'])
        await expect(putBytes(store, prefix, Buffer.from('x'))).rejects.toThrow('not a key');
      await expect(listKeys(store, '..')).rejects.toThrow('not a prefix');
    });

    it('notices on reading that content was changed, before the last byte is out', async () => {
      const bytes = randomBytes(400_000);
      const key = await putBytes(store, 'acc_5/wb_1', bytes);
      await corrupt(key);
      const other = await openBlobs({ ...config, dataDir: `${config.dataDir}-other` });
      let received = 0;
      const read = async () => {
        for await (const piece of await other.read(key)) received += piece.length;
      };
      await expect(read()).rejects.toMatchObject({ name: 'BlobError', kind: 'corrupt', key });
      expect(received).toBeLessThan(bytes.length);
      await other.close();
      await store.remove(key);
    });

    it('sweeps old drafts only', async () => {
      const [old, young] = [await store.draft(), await store.draft()];
      await writeFile(old, 'half');
      await writeFile(young, 'half');
      const hourAgo = new Date(Date.now() - 3_600_000);
      await utimes(old, hourAgo, hourAgo);
      expect(await store.sweepDrafts(new Date(Date.now() - 60_000))).toBeGreaterThanOrEqual(1);
      const left = await readdir(dirname(young));
      expect([left.some((name) => old.endsWith(name)), left.some((name) => young.endsWith(name))]).toEqual([false, true]);
    });

    it('shows nothing of a writer that is killed in the middle', async () => {
      await crashAndCheck(config);
    });
  });
}

async function timesOf(store: BlobStore, prefix: string): Promise<number[]> {
  const times: number[] = [];
  for await (const { modifiedAt } of store.list(prefix)) times.push(modifiedAt.getTime());
  return times;
}
