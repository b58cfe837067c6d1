import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { BlobError, type BlobStore } from '../../store/blobs/blobStore.ts';
import { openBlobs } from '../../store/blobs/openBlobs.ts';
import { type Config, projectDir } from '../../store/config.ts';

export type StoreConfig = Pick<Config, 'blobs' | 'dataDir'>;

/** Kills a writer at different moments; afterwards what can be opened is whole, and what was acknowledged is there. */
export async function crashAndCheck(config: StoreConfig): Promise<void> {
  const kept: string[] = [];
  for (const waitMs of [10, 60, 150, 400]) kept.push(...(await killWriter(config, waitMs)));
  expect(kept.length).toBeGreaterThan(0);
  const store = await openBlobs({ ...config, dataDir: `${config.dataDir}-after` });
  try {
    for (const key of kept) expect(await isWhole(store, key)).toBe(true);
    for await (const { key } of store.list('acc_crash')) {
      // A server that shows half an object would be found out by the hash.
      await isWhole(store, key).catch((error: unknown) => expect(error).toBeInstanceOf(BlobError));
    }
  } finally {
    await store.close();
  }
  const same = await openBlobs(config);
  await same.sweepDrafts(new Date(Date.now() + 1000));
  expect(await same.sweepDrafts(new Date(Date.now() + 1000))).toBe(0);
  await same.close();
}

async function killWriter(config: StoreConfig, waitMs: number): Promise<string[]> {
  const child = spawn(process.execPath, ['--import', 'tsx', 'test/blobs/crashWriter.ts', JSON.stringify(config)], {
    cwd: projectDir,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const kept: string[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => kept.push(line));
  const ended = once(child, 'exit');
  const line = () => Promise.race([once(lines, 'line'), ended]);
  await line();
  // Half of them while the first files are on their way, half after one is kept.
  if (waitMs > 100) await line();
  await delay(waitMs);
  child.kill('SIGKILL');
  await ended;
  expect(kept[0]).toBe('ready');
  return kept.slice(1).filter((line) => line.endsWith('.parquet'));
}

async function isWhole(store: BlobStore, key: string): Promise<boolean> {
  const opened = await store.open([key]);
  try {
    const bytes = await readFile(opened.pathOf(key));
    return key.includes(createHash('sha256').update(bytes).digest('hex'));
  } finally {
    opened.release();
  }
}
