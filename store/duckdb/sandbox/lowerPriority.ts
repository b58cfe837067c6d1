import { readdir, readFile } from 'node:fs/promises';
import { setPriority } from 'node:os';

/**
 * Lets the work of others go first: raises the niceness of a process and of those that it started, thread by thread, as Linux
 * knows it of threads only. What has ended meanwhile, or cannot be seen, stays as it is.
 */
export async function lowerPriority(pid: number, niceness: number): Promise<void> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  for (const thread of threads) {
    try {
      setPriority(Number(thread), niceness);
    } catch {
      // It has ended.
    }
    const children = await readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '');
    for (const child of children.split(' ').filter(Boolean)) await lowerPriority(Number(child), niceness);
  }
}
