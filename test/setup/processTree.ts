import { readFileSync } from 'node:fs';

/** The processes that a process has started, and those that these have started. */
export function listDescendants(pid: number): number[] {
  const children = readProc(pid, `task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...listDescendants(child)]);
}

/** Those of them that work on files. */
export function listFileProcesses(pid: number): number[] {
  return listDescendants(pid).filter((each) => isFileProcess(each));
}

function isFileProcess(pid: number): boolean {
  const command = readProc(pid, 'cmdline');
  return command.includes('child.mjs') && !command.includes('bwrap');
}

export function isAlive(pid: number): boolean {
  return /^State:\s+[^ZX]/m.test(readProc(pid, 'status'));
}

/** The most memory that a process has had, in bytes. */
export function readPeak(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readProc(pid, 'status'))?.[1] ?? 0) * 1024;
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
