import { closeSync, openSync } from 'node:fs';
import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { bind, type Isolation, shutIn, spawnLimited } from '../duckdb/sandbox/isolation.ts';
import { bindPython, childDir, insideHome, type PythonProgram } from './pythonProgram.ts';

/** Above what a template may take: for Python itself and its packages. */
const ownBytes = 1024 ** 3;

/** Everything that Python, numpy and Arrow read from the environment; our own variables are not passed on. */
const variables = {
  // Sets and dictionaries of texts have the same order in each run.
  PYTHONHASHSEED: '0',
  PYTHONHOME: insideHome,
  PYTHONUTF8: '1',
  TZ: 'UTC',
  // No thread is started while the packages are loaded: one would not survive a fork.
  OPENBLAS_NUM_THREADS: '1',
  OMP_NUM_THREADS: '1',
  // Arrow's own allocators set address space aside, of which a template has little.
  ARROW_DEFAULT_MEMORY_POOL: 'system',
  JE_ARROW_MALLOC_CONF: 'background_thread:false',
  MALLOC_ARENA_MAX: '1',
};

/**
 * Files in the folder of a process, which it is given open, without the folder: what a template writes (Arrow), and the table that
 * is made of it (Parquet).
 */
const resultNames = ['result.arrow', 'result.parquet'] as const;
export const tableName = resultNames[1];

/** A process that forks one for each template: no network, no folder to write to, nothing to read but Python and its tables. */
export async function pythonIsolation(bwrap: string, program: PythonProgram, memoryBytes: number, workDir: string): Promise<Isolation> {
  const childCopy = join(workDir, 'child');
  const copies = await copyFiles(childDir, childCopy);
  // As process 1 it gets no signals of the processes inside.
  const fixed = [...shutIn(bwrap), '--as-pid-1', ...bindPython(program, childCopy)];
  return {
    kind: 'bubblewrap',
    copies,
    nextOwner: async () => null,
    seen: () => ({ inDir: '/in', outDir: '/out' }),
    spawn({ inDir, outDir }) {
      const inside = [`${insideHome}/bin/python3`, '-S', '-s', '-B', '/app/child/main.py'];
      const files = resultNames.map((name) => openSync(join(outDir, name), 'wx+', 0o600));
      try {
        return spawnLimited({
          memoryBytes: memoryBytes + ownBytes,
          env: variables,
          command: [bwrap, ...fixed, ...bind(inDir, '/in'), '--remount-ro', '/', '--chdir', '/', ...inside],
          files,
        });
      } finally {
        files.map(closeSync);
      }
    },
    // Nothing to do: bubblewrap ends everything inside.
    sweep() {},
  };
}

/** Processes are started for as long as we run; the originals may change meanwhile. */
async function copyFiles(from: string, to: string): Promise<string[]> {
  await mkdir(to);
  const names = (await readdir(from)).filter((name) => name.endsWith('.py'));
  await Promise.all(names.map((name) => copyFile(join(from, name), join(to, name))));
  return names.map((name) => join(to, name));
}
