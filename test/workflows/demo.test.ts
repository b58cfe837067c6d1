import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { tellStory } from '../../demo/story.ts';
import { useStoreWithWorker } from './storeWithWorker.ts';

const store = await useStoreWithWorker();

it('the demo runs through, tells what it does, and leaves its files and pictures', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-test-demo-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const said: string[] = [];
  await tellStory({ url: store.api.url, token: store.owner.session }, folder, (line) => said.push(line)).catch((error: unknown) => {
    throw new Error(`${said.join('\n')}\n${(error as Error).message}`);
  });
  const text = said.join('\n');
  for (const told of ['by_store is stale', 'by_store is fresh', 'online 4900, now 5000', '"Salary":null', 'the chain is valid'])
    expect(text).toContain(told);
  expect((await readdir(folder)).sort()).toEqual([
    'edited-offline.xlsx',
    'exported.xlsx',
    'lineage.svg',
    'sales.png',
    'sales.svg',
    'sample.xlsx',
  ]);
  expect((await readFile(join(folder, 'sales.png'))).subarray(1, 4).toString()).toBe('PNG');
  expect(await readFile(join(folder, 'sales.svg'), 'utf8')).toContain('東京');
});
