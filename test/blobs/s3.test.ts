import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DomainError } from '../../core/errors.ts';
import type { BlobStore } from '../../store/blobs/blobStore.ts';
import type { S3Config, S3Options } from '../../store/blobs/s3Client.ts';
import { createS3Client, defaultOptions } from '../../store/blobs/s3Client.ts';
import { openS3Store } from '../../store/blobs/s3Store.ts';
import { uploadFile } from '../../store/blobs/s3Transfer.ts';
import { TroubleProxy } from './proxy.ts';
import { bucket, type S3Server, s3Servers } from './s3Servers.ts';
import { collect, putBytes, testStore } from './suite.ts';

/** As long as a busy machine may take to answer. */
const patient: Partial<S3Options> = { maxAttempts: 2, connectTimeoutMs: 30_000, requestTimeoutMs: 60_000 };
/** Where no answer comes. */
const impatient: Partial<S3Options> = { requestTimeoutMs: 700 };

describe.each(s3Servers)('S3 blob store: $name', (kind) => {
  let folder: string;
  let server: S3Server;
  let proxy: TroubleProxy;
  let config: S3Config;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-test-s3-'));
    server = await kind.start(join(folder, 'server'));
    proxy = new TroubleProxy(server.port);
    await proxy.start();
    const { accessKeyId, secretAccessKey } = server;
    config = {
      kind: 's3',
      bucket,
      prefix: 'some/prefix',
      endpoint: `http://127.0.0.1:${proxy.port}`,
      region: 'us-east-1',
      accessKeyId,
      secretAccessKey,
    };
  });
  afterAll(async () => {
    await proxy.stop();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => proxy.make('none'));

  const corrupt = (key: string) => server.corrupt(`${config.prefix}/${key}`);
  let caches = 0;
  const newCache = () => join(folder, `cache-${++caches}`);

  testStore(kind.name, async () => ({ config: { blobs: config, dataDir: join(folder, 'data') }, corrupt }));

  async function withStore(
    options: Partial<S3Options>,
    work: (store: BlobStore, cache: string) => Promise<void>,
    cache = newCache(),
  ): Promise<void> {
    const store = await openS3Store(config, cache, { ...patient, ...options });
    try {
      await work(store, cache);
    } finally {
      await store.close();
    }
  }

  /** Blobs that no cache holds yet. */
  async function putRemote(sizes: number[]): Promise<string[]> {
    const keys: string[] = [];
    await withStore({}, async (store) => {
      for (const size of sizes) keys.push(await putBytes(store, 'acc_9/wb_9', randomBytes(size)));
    });
    return keys;
  }

  it('downloads once, however many ask at once, and not at all what it has written itself', async () => {
    const [key = ''] = await putRemote([2_000_000]);
    await withStore({}, async (store) => {
      const before = proxy.count('GET', key);
      const all = await Promise.all(Array.from({ length: 20 }, () => store.open([key])));
      expect(proxy.count('GET', key) - before).toBe(1);
      const paths = new Set(all.map((opened) => opened.pathOf(key)));
      expect(paths.size).toBe(1);
      for (const opened of all.slice(1)) opened.release();
      expect((await readFile(all[0]?.pathOf(key) ?? '')).length).toBe(2_000_000);
      all[0]?.release();
      const own = await putBytes(store, 'acc_9/wb_9', randomBytes(1000));
      (await store.open([own])).release();
      expect(proxy.count('GET', own)).toBe(0);
    });
  });

  it('keeps what it has over a restart', async () => {
    const [key = ''] = await putRemote([50_000]);
    const cache = newCache();
    await withStore({}, async (store) => (await store.open([key])).release(), cache);
    const before = proxy.count('GET', key);
    await withStore({}, async (store) => (await store.open([key])).release(), cache);
    expect(proxy.count('GET', key)).toBe(before);
  });

  it('evicts what was used least recently, never what is pinned', async () => {
    const keys = await putRemote([40_000, 40_000, 40_000, 40_000]);
    const [a = '', b = '', c = '', d = ''] = keys;
    await withStore({ cacheBytes: 100_000 }, async (store, cache) => {
      const isCached = (key: string) => existsSync(join(cache, 'files', key.split('/').at(-1) ?? ''));
      const pinned = await store.open([a]);
      for (const key of [b, c, d]) {
        (await store.open([key])).release();
        await delay(30);
      }
      await expect.poll(() => [a, b, c, d].map(isCached)).toEqual([true, false, false, true]);
      expect((await readFile(pinned.pathOf(a))).length).toBe(40_000);
      pinned.release();
      await delay(30);
      // `a` was released after `d`: of the two, `d` has to go.
      (await store.open([b])).release();
      await expect.poll(() => [a, b, c, d].map(isCached)).toEqual([true, true, false, false]);
    });
  });

  it('lets go what nobody has used for long, whoever removed the blob, and keeps what is pinned', async () => {
    const [a = '', b = ''] = await putRemote([40_000, 40_000]);
    await withStore({ cacheKeptMs: 500 }, async (store, cache) => {
      const pinned = await store.open([a]);
      (await store.open([b])).release();
      await withStore({}, async (elsewhere) => {
        for (const key of [a, b]) await elsewhere.remove(key);
      });
      const left = () => readdir(join(cache, 'files'));
      await expect.poll(left).toEqual([a.split('/').at(-1)]);
      expect((await readFile(pinned.pathOf(a))).length).toBe(40_000);
      pinned.release();
      await expect.poll(left).toEqual([]);
    });
  });

  it('frees what processes had pinned that have ended', async () => {
    const cache = newCache();
    const dead = join(cache, 'pins', 'dead');
    await mkdir(dead, { recursive: true });
    await utimes(dead, new Date(0), new Date(0));
    await withStore({}, async () => expect(await readdir(join(cache, 'pins'))).toHaveLength(1), cache);
    expect(await readdir(join(cache, 'pins'))).toEqual([]);
  });

  it('goes on when its own pins, or all of it, were swept away under it', async () => {
    const [key = ''] = await putRemote([50_000]);
    await withStore({}, async (store, cache) => {
      for (const swept of [join(cache, 'pins'), cache]) {
        await rm(swept, { recursive: true });
        const opened = await store.open([key]);
        expect((await readFile(opened.pathOf(key))).length).toBe(50_000);
        opened.release();
      }
    });
  });

  it('holds more than the limit while all of it is pinned, and comes back below', async () => {
    const keys = await putRemote([40_000, 40_000, 40_000, 40_000]);
    await withStore({ cacheBytes: 100_000 }, async (store, cache) => {
      const opened = await store.open(keys);
      for (const key of keys) expect(statSync(opened.pathOf(key)).size).toBe(40_000);
      opened.release();
      await expect.poll(async () => (await readdir(join(cache, 'files'))).length).toBeLessThanOrEqual(2);
    });
  });

  it('leaves a pinned file to its reader although another process evicts it', async () => {
    const keys = await putRemote([40_000, 40_000, 40_000]);
    const cache = newCache();
    await withStore(
      { cacheBytes: 50_000 },
      async (mine) => {
        const opened = await mine.open([keys[0] ?? '']);
        await withStore(
          { cacheBytes: 50_000 },
          async (theirs) => {
            for (const key of keys.slice(1)) (await theirs.open([key])).release();
            await theirs.remove(keys[0] ?? '');
          },
          cache,
        );
        expect((await readFile(opened.pathOf(keys[0] ?? ''))).length).toBe(40_000);
        opened.release();
      },
      cache,
    );
  });

  it('says that the store is away, and works again when it is back', async () => {
    const [key = ''] = await putRemote([1000]);
    await withStore({}, async (store) => {
      await proxy.stop();
      for (const work of [
        () => store.open([key]),
        () => store.exists(key),
        () => putBytes(store, 'acc_9/wb_9', randomBytes(10)),
        () => store.remove(key),
      ]) {
        const error = await work().then(
          () => null,
          (error: unknown) => error,
        );
        expect(error).toBeInstanceOf(DomainError);
        expect(error).toMatchObject({ code: 'unavailable', status: 503 });
      }
      expect(await readdir(dirname(await store.draft()))).toEqual([]);
      await proxy.start();
      const opened = await store.open([key]);
      expect((await readFile(opened.pathOf(key))).length).toBe(1000);
      opened.release();
    });
  });

  it('says so too when it is overloaded or does not answer', async () => {
    const [key = ''] = await putRemote([1000]);
    await withStore(impatient, async (store) => {
      proxy.make('refuse');
      await expect(store.open([key])).rejects.toMatchObject({ code: 'unavailable' });
      proxy.make('stall');
      await expect(store.open([key])).rejects.toMatchObject({ code: 'unavailable' });
    });
  });

  it('gets over a refusal, a broken connection and wrong bytes that come once', async () => {
    const keys = await putRemote([300_000, 300_000, 300_000]);
    await withStore({}, async (store, cache) => {
      for (const [i, trouble] of (['refuse', 'break', 'corrupt'] as const).entries()) {
        const key = keys[i] ?? '';
        const before = proxy.count('GET', key);
        proxy.make(trouble, 1);
        const opened = await store.open([key]);
        expect((await readFile(opened.pathOf(key))).length).toBe(300_000);
        expect(proxy.count('GET', key) - before).toBe(2);
        opened.release();
      }
      expect(await readdir(join(cache, 'drafts'))).toEqual([]);
    });
  });

  it('refuses a corrupted object after a second look, and leaves nothing of it', async () => {
    const [key = ''] = await putRemote([100_000]);
    await corrupt(key);
    await withStore({}, async (store, cache) => {
      const before = proxy.count('GET', key);
      await expect(store.open([key])).rejects.toMatchObject({ kind: 'corrupt', key });
      expect(proxy.count('GET', key) - before).toBe(2);
      expect([...(await readdir(join(cache, 'files'))), ...(await readdir(join(cache, 'drafts')))]).toEqual([]);
      await store.remove(key);
    });
  });

  it('says what is wrong with the configuration, and not that the store is away', async () => {
    const wrong = await openS3Store({ ...config, bucket: 'no-such-bucket' }, newCache(), patient);
    const error = await putBytes(wrong, 'acc_9/wb_9', randomBytes(10)).then(
      () => null,
      (error: unknown) => error,
    );
    expect(String(error)).toMatch(/NoSuchBucket/);
    await wrong.close();
  });

  it('sends large files in parts', async () => {
    const bytes = randomBytes(12_000_000);
    await withStore({ partBytes: 5 * 1024 * 1024 }, async (store) => {
      const key = await putBytes(store, 'acc_9/parts', bytes);
      expect(proxy.count('PUT', 'partNumber')).toBeGreaterThanOrEqual(3);
      await withStore({}, async (other) => {
        expect((await collect(await other.read(key))).equals(bytes)).toBe(true);
      });
    });
  });

  it.runIf(kind.checksChecksums)('has uploads checked by the server', async () => {
    const options = { ...defaultOptions(config), ...patient };
    const client = createS3Client(config, options);
    const sha256 = 'ab'.repeat(32);
    const object = { bucket, path: `x/${sha256}.bin`, key: `x/${sha256}.bin`, sha256 };
    await expect(uploadFile(client, object, new URL(import.meta.url).pathname, 10, options)).rejects.toThrow(/did not match/i);
    client.destroy();
  });
});
