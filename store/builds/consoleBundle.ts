import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleCode } from './bundleCode.mjs';
import { keepBuild } from './keepBuild.mjs';

const entries = { console: 'console/main.tsx' };
const sources = ['console'];

/** The console for browsers: parts are loaded when a page needs them, and names carry a hash of the content. */
export function prepareConsoleBundle(): Promise<string> {
  return keepBuild({
    name: 'console',
    sources,
    make: () =>
      bundleCode({
        entries,
        sources,
        settings: {
          platform: 'browser',
          target: 'es2022',
          splitting: true,
          minify: true,
          entryNames: '[name]-[hash]',
          chunkNames: '[name]-[hash]',
          outExtension: {},
          mainFields: ['browser', 'module', 'main'],
          banner: {},
          jsx: 'automatic',
          legalComments: 'none',
        },
      }),
  });
}

/** The files of the console by name. */
export async function readConsoleBundle(): Promise<Map<string, Buffer>> {
  const dir = await prepareConsoleBundle();
  const names = await readdir(dir);
  return new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(dir, name))] as const)));
}
