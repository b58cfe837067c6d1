import { readFile } from 'node:fs/promises';

/** Bytes that a process and those it started have in memory; 0 where that cannot be told. */
export async function readMemory(pid: number): Promise<number> {
  const [status, children] = await Promise.all([readProc(`${pid}/status`), readProc(`${pid}/task/${pid}/children`)]);
  const own = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  const others = await Promise.all(children.split(' ').filter(Boolean).map(Number).map(readMemory));
  return others.reduce((sum, bytes) => sum + bytes, own);
}

const readProc = (file: string) => readFile(`/proc/${file}`, 'utf8').catch(() => '');
