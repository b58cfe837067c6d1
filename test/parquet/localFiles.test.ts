import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openLocalFiles } from '../../store/duckdb/localFiles.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-test-local-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('a local file goes when nobody has asked for it for a while, also if nothing else is asked for', async () => {
  const fail = (error: unknown) => {
    throw error;
  };
  const files = openLocalFiles<{ rows: number }>('log_files', async () => folder, fail, { known: 10, bytes: 1000, keptMs: 2000 });
  const write = async (path: string) => {
    await writeFile(path, 'rows');
    return { rows: 1 };
  };
  for (let times = 0; times < 2; times += 1) await files.offer('table', write);
  const { path } = files.find('table') ?? { path: '' };
  expect(existsSync(path)).toBe(true);
  await expect.poll(() => existsSync(path)).toBe(false);
  expect(files.find('table')).toBeNull();
  await files.close();
});
