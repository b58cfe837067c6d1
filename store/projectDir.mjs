// @ts-check
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this installation: the nearest one above with a package.json, since this code also runs from bundles in `build/`. */
export const projectDir = findProject(dirname(fileURLToPath(import.meta.url)));

/** @param {string} dir @returns {string} */
function findProject(dir) {
  return existsSync(join(dir, 'package.json')) ? dir : findProject(dirname(dir));
}
