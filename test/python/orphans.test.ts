import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { usePython } from './world.ts';

const script = fileURLToPath(new URL('runForever.ts', import.meta.url));
const world = await usePython();

/** Processes for Python of the service whose folder has this mark. */
async function countProcesses(mark: string): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const read = async (pid: string) =>
    `${await readFile(`/proc/${pid}/cmdline`, 'utf8')} ${await readFile(`/proc/${pid}/mountinfo`, 'utf8')}`;
  const texts = await Promise.all(pids.map((pid) => read(pid).catch(() => '')));
  return texts.filter((text) => text.includes('main.py') && text.includes(mark)).length;
}

it.skipIf(!world)('a service that is killed takes its templates with it', async () => {
  const dir = join((world as NonNullable<typeof world>).dir, 'killed');
  await mkdir(dir);
  const child = spawn(process.execPath, ['--import', 'tsx', script, dir], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('exit', (code) => reject(new Error(`the service ended by itself (${code})`)));
  });
  const mark = `queries-${child.pid}-`;
  await expect.poll(() => countProcesses(mark)).toBeGreaterThan(1);
  child.kill('SIGKILL');
  await expect.poll(() => countProcesses(mark)).toBe(0);
});
