import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import { projectDir } from '../config.ts';

const entry = join(projectDir, 'workflows', 'index.ts');
const folder = join(projectDir, 'build');

/** Path of the workflows' code as one bundle; rebuilt when the sources have changed. */
export async function prepareWorkflowBundle(): Promise<string> {
  const path = join(folder, `workflows-${hashSources()}.js`);
  if (existsSync(path)) return path;
  const quiet = { trace() {}, debug() {}, info() {}, log() {}, warn: console.warn, error: console.error };
  const { code } = await bundleWorkflowCode({ workflowsPath: entry, logger: quiet });
  mkdirSync(folder, { recursive: true });
  // Written under another name and renamed, so that a process starting at the same time never reads half of it.
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, code);
  renameSync(draft, path);
  return path;
}

/** A hash over the workflows, the core that they may import, and the SDK's version. */
function hashSources(): string {
  const hash = createHash('sha256');
  for (const dir of ['workflows', 'core']) {
    for (const name of readdirSync(join(projectDir, dir), { recursive: true, encoding: 'utf8' }).sort()) {
      if (name.endsWith('.ts')) hash.update(name).update(readFileSync(join(projectDir, dir, name)));
    }
  }
  hash.update(readFileSync(join(projectDir, 'package-lock.json')));
  return hash.digest('hex').slice(0, 16);
}
