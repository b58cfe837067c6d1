import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { testStore } from './suite.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-test-blobs-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

testStore('folder', async () => {
  const dir = join(folder, 'blobs');
  const corrupt = async (key: string) => {
    const bytes = await readFile(join(dir, key));
    bytes[5] = (bytes[5] ?? 0) ^ 1;
    await writeFile(join(dir, key), bytes);
  };
  return { config: { blobs: { kind: 'file' as const, dir }, dataDir: folder }, corrupt };
});
