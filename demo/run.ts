import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startService } from './startService.ts';
import { tellStory } from './story.ts';

/**
 * `npm run demo`: walks through the service on a sample workbook, against a service of its own. With SVC_URL and SVC_TOKEN it uses
 * that one. Files and pictures are left in a folder, which can be named: `npm run demo -- FOLDER`.
 */
const { SVC_URL: url, SVC_TOKEN: token } = process.env;
const folder = resolve(process.argv[2] ?? (await mkdtemp(join(tmpdir(), 'svc-demo-'))));
const say = (line: string) => console.log(line);

if (url && token) await tellStory({ url, token }, folder, say);
else {
  say('Starting a service for this demo; the first time, that takes a minute.\n');
  const service = await startService(await mkdtemp(join(tmpdir(), 'svc-demo-data-')));
  try {
    await tellStory(service, folder, say);
  } finally {
    await service.stop();
  }
}
say(`\nFiles and pictures are in ${folder}`);
