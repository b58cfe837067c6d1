import { join } from 'node:path';
import { endSessions } from './endSessions.ts';
import { makeSessionFolder, partFor, removeSessionFolder, shareFile, takeFile } from './folders.ts';
import { ProcessGone, type QueryProcess } from './process.ts';
import { aloneFolder, type ChildError, type Scalar } from './protocol.ts';
import { graceMs } from './runInProcess.ts';

/** What a process can do with a file that strangers wrote. */
export interface ForeignFile {
  /** As the process sees it. */
  path: string;
  /** A path that the SQL may write to. */
  outPath: string;
  /** Runs SQL of the service; throws ForeignFileError. */
  query(sql: string): Promise<Scalar[][]>;
  /** Moves what the SQL wrote to `outPath`. */
  takeOutput(target: string): Promise<void>;
}

/** The file could not be read. `failed`: by what it holds; `broken`: as it is damaged; the others: as it needs too much. */
export class ForeignFileError extends Error {
  override readonly name = 'ForeignFileError';

  constructor(
    readonly kind: ChildError['kind'],
    message: string,
  ) {
    super(message);
  }
}

/** Lets `work` read a file in a process that has nothing else; the process is not used again if anything failed. */
export async function readForeignFile<T>(
  process: QueryProcess,
  file: { path: string; timeoutMs: number },
  work: (foreign: ForeignFile) => Promise<T>,
): Promise<T> {
  const deadlineMs = Date.now() + file.timeoutMs;
  const { folders, seen } = process;
  const place = partFor(false, aloneFolder);
  const shared = join(folders.inDir, place, 'foreign');
  const out = 'foreign.out';
  try {
    await endSessions(process, process.sessions.takeAll());
    await makeSessionFolder(folders, aloneFolder);
    await shareFile(file.path, shared, folders.owner);
    return await work({
      path: join(seen.inDir, place, 'foreign'),
      outPath: join(seen.outDir, out),
      query: (sql) => ask(process, sql, deadlineMs),
      takeOutput: (target) => takeFile(join(folders.outDir, out), target),
    });
  } catch (error) {
    process.kill();
    throw error;
  } finally {
    // The file may have brought the process into a state that the next query must not see.
    process.served = Number.POSITIVE_INFINITY;
    if (!process.gone) await removeSessionFolder(folders, aloneFolder);
  }
}

async function ask(process: QueryProcess, sql: string, deadlineMs: number): Promise<Scalar[][]> {
  const timeoutMs = Math.max(1, deadlineMs - Date.now());
  try {
    const { reply } = await process.ask({ op: 'readFile', sql, timeoutMs }, timeoutMs + graceMs);
    if (reply.ok) return reply.value.rows;
    throw new ForeignFileError(reply.error.kind, reply.error.message);
  } catch (error) {
    if (!(error instanceof ProcessGone) || error.why === 'closed') throw error;
    throw new ForeignFileError(error.why === 'timeout' ? 'timeout' : 'too-large', error.message);
  }
}
