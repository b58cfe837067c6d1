import { spawn } from 'node:child_process';
import { chmod, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeWorkDir } from '../../store/duckdb/sandbox/folders.ts';
import { findBubblewrap } from '../../store/duckdb/sandbox/isolation.ts';
import { makeWorld, searchPath, type World } from './world.ts';

/** A service that is killed cannot clear up; its query processes must end all the same, busy or not. */

const script = fileURLToPath(new URL('openForever.ts', import.meta.url));

let world: World;

beforeAll(async () => {
  world = await makeWorld();
  // The other user must get there.
  await chmod(world.dir, 0o711);
});
afterAll(() => world?.close());

/** Query processes, by what they see or are told of the service's folder. */
async function findQueryProcesses(mark: string): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const read = async (pid: string) =>
    `${await readFile(`/proc/${pid}/cmdline`, 'utf8')} ${await readFile(`/proc/${pid}/mountinfo`, 'utf8')}`;
  const texts = await Promise.all(pids.map((pid) => read(pid).catch(() => '')));
  return texts.filter((text) => text.includes('child.mjs') && text.includes(mark)).length;
}

async function killService(isolation: string, tmp: string): Promise<void> {
  const dir = join(world.dir, isolation);
  const child = spawn(process.execPath, ['--import', 'tsx', script, dir, isolation, searchPath.join(':')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: tmp },
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('exit', (code) => reject(new Error(`the service ended by itself (${code})`)));
  });
  const mark = `queries-${child.pid}-`;
  await expect.poll(() => findQueryProcesses(mark)).toBeGreaterThan(0);
  child.kill('SIGKILL');
  await expect.poll(() => findQueryProcesses(mark)).toBe(0);

  const parent = isolation === 'user' ? tmp : dir;
  const [left] = (await readdir(parent)).filter((name) => name.startsWith(mark));
  await makeWorkDir(parent, 0o700);
  await expect(stat(join(parent, left as string))).rejects.toMatchObject({ code: 'ENOENT' });
}

describe('startProcess: a killed service', () => {
  it.skipIf(!findBubblewrap(searchPath))('takes its processes with it, in bubblewrap', () => killService('bubblewrap', world.dir));
  it.skipIf(process.getuid?.() !== 0)('takes its processes with it, as another user', () => killService('user', world.dir));
});
