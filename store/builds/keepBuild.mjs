// @ts-check
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../projectDir.mjs';

/**
 * What is made from sources once and then kept, such as bundles of code. Plain JavaScript, because `npm start` needs it before
 * any TypeScript can run.
 *
 * @typedef {object} Build
 * @property {string} name
 * @property {string[]} sources Files and folders of the project that the build depends on. The versions of packages always count.
 * @property {string} [text] Something else that it depends on.
 * @property {() => Promise<Record<string, string | Uint8Array>>} make The content of its files by name.
 * @property {string} [dir] Where builds are kept; the default is `build` in the project.
 */

/** Builds that nobody has asked for in this time are removed when another is made: a process may just be starting from one. */
const keepUnusedMs = 60 * 60_000;
const draftPrefix = 'draft-';

/**
 * Returns the folder of the build; makes it if the sources have changed since. Any number of processes may do so at once.
 *
 * @param {Build} build
 * @returns {Promise<string>}
 */
export async function keepBuild({ name, sources, text = '', make, dir = join(projectDir, 'build') }) {
  const path = join(dir, `${name}-${hashSources(sources, text)}`);
  if (existsSync(path)) {
    markUsed(path);
    return path;
  }
  const files = await make();
  mkdirSync(dir, { recursive: true });
  const draft = mkdtempSync(join(dir, draftPrefix));
  for (const [file, content] of Object.entries(files)) writeFileSync(join(draft, file), content);
  // A temporary folder belongs to one user alone; other users may start the service, too.
  chmodSync(draft, 0o755);
  try {
    // All files appear at once, so that nobody starts from half of them.
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another process was faster.
    if (!existsSync(path)) throw error;
  }
  removeUnused(dir, name, path);
  return path;
}

/** @param {string} path */
function markUsed(path) {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // The folder may be read-only, or belong to somebody else.
  }
}

/** @param {string} dir @param {string} name @param {string} current */
function removeUnused(dir, name, current) {
  const isBuild = new RegExp(`^(${name}-[0-9a-f]{16}|${draftPrefix}.+)$`);
  for (const entry of readdirSync(dir).filter((each) => isBuild.test(each))) {
    const path = join(dir, entry);
    const unusedMs = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (path !== current && unusedMs > keepUnusedMs) rmSync(path, { recursive: true, force: true });
  }
}

/** @param {string[]} sources @param {string} text @returns {string} */
function hashSources(sources, text) {
  const hash = createHash('sha256').update(text);
  for (const source of [...sources, 'package-lock.json']) {
    const path = join(projectDir, source);
    const names = statSync(path).isDirectory() ? listFiles(path) : [''];
    // Names and lengths too, so that nothing can move from one file to the next unnoticed.
    for (const name of names) {
      const content = readFileSync(join(path, name));
      hash.update(JSON.stringify([source, name, content.length])).update(content);
    }
  }
  return hash.digest('hex').slice(0, 16);
}

/** @param {string} dir @returns {string[]} */
function listFiles(dir) {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
    .sort();
}
