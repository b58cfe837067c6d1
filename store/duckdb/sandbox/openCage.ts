import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bubblewrapCage, type Cage, findBubblewrap, userCage } from './cage.ts';
import { makeWorkDir } from './folders.ts';
import { type QueryProcess, startProcess } from './process.ts';
import { findChildProgram } from './program.ts';

export type CageChoice = 'any' | 'bubblewrap' | 'user';

export const sandboxHelp = [
  'Queries run the SQL of others and need a sandbox, which cannot be made here.',
  'Install bubblewrap (Debian, Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap; Alpine: apk add bubblewrap),',
  'allow user namespaces (in a container: --security-opt seccomp=unconfined, or --cap-add SYS_ADMIN), or start as root.',
].join('\n');

export interface OpenedCage {
  cage: Cage;
  workDir: string;
  /** The process that showed it to work. */
  first: QueryProcess;
}

/** The strongest cage that works on this machine. Each is tried with a real query process, since only that tells. */
export async function openCage(dir: string, searchPath: string[], choice: CageChoice): Promise<OpenedCage> {
  const program = await findChildProgram();
  const reasons: string[] = [];
  const attempt = async (parent: string, mode: number, make: (workDir: string) => Cage | Promise<Cage>) => {
    const workDir = await makeWorkDir(parent, mode);
    try {
      const cage = await make(workDir);
      return { cage, workDir, first: await startProcess(cage, workDir) };
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
      await rm(workDir, { recursive: true, force: true });
      return null;
    }
  };

  if (choice !== 'user') {
    const bwrap = findBubblewrap(searchPath);
    const opened = bwrap ? await attempt(dir, 0o700, () => bubblewrapCage(bwrap, program)) : null;
    if (opened) return opened;
    if (!bwrap) reasons.push('bubblewrap (the program bwrap) is not installed');
  }
  if (choice !== 'bubblewrap') {
    // Another user must be able to go there, and the data folder is closed to everybody.
    const opened = process.getuid?.() === 0 ? await attempt(tmpdir(), 0o711, (workDir) => userCage(program, join(workDir, 'app'))) : null;
    if (opened) return opened;
    if (process.getuid?.() !== 0) reasons.push('without root, no other user can be used');
  }
  throw new Error(`${sandboxHelp}\n${reasons.map((reason) => `- ${reason}`).join('\n')}`);
}
