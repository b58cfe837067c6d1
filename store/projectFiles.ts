import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { projectDir } from './config.ts';

/** Files of the project and its packages that the service shows to people. */

/** The documents: paths from the project's folder, and their texts. */
export async function readDocuments(): Promise<Map<string, string>> {
  const list = async (dir: string) => (await readdir(join(projectDir, dir))).map((name) => (dir === '' ? name : `${dir}/${name}`));
  const paths = (await Promise.all(['', 'docs', 'docs/decisions'].map(list))).flat().filter((path) => path.endsWith('.md'));
  return new Map(await Promise.all(paths.map(async (path) => [path, await readFile(join(projectDir, path), 'utf8')] as const)));
}

/** A file of a package that the project depends on. */
export function readPackageFile(name: string, file: string): Promise<Buffer> {
  const manifest = createRequire(join(projectDir, 'package.json')).resolve(`${name}/package.json`);
  return readFile(join(dirname(manifest), file));
}
