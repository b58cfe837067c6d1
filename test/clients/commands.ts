import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { loadConfig } from '../../store/config.ts';
import { findProgram } from '../../store/findProgram.ts';

const execute = promisify(execFile);

/** Runs a program to its end and returns what it wrote; if it fails, the error says so with all that it wrote. */
export async function run(program: string, args: string[], { cwd, env }: { cwd?: string; env?: Record<string, string> }): Promise<string> {
  try {
    const { stdout } = await execute(program, args, { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as { stdout?: string; stderr?: string; message: string };
    throw new Error([`${program} ${args.join(' ')} failed`, stdout.slice(-4000), stderr.slice(-4000) || message].join('\n'));
  }
}

/** The programs that this machine lacks. */
export function findMissing(names: string[]): string[] {
  const { searchPath } = loadConfig({ PATH: process.env.PATH }).machine;
  return names.filter((name) => findProgram(name, searchPath) === null);
}
