import { constants } from 'node:fs';
import { copyFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError } from '../../core/errors.ts';
import { FoldersGone, hasFolders, shareFile } from '../duckdb/sandbox/folders.ts';
import { ProcessGone, type QueryProcess } from '../duckdb/sandbox/process.ts';
import { type Done, type Ended, type RunLimits, readReport, tookTooLong, tookTooMuch } from './explainReport.ts';
import { tableName } from './pythonIsolation.ts';

export interface TemplateRun extends RunLimits {
  /** `check`: whether it can be run, as far as that can be told without running it. */
  op: 'run' | 'check';
  template: string;
  /** Names of the function's parameters, and files with an Arrow stream each. */
  args: Record<string, string | null>;
  /** Where the result goes, as a Parquet file. Null: nowhere. */
  resultPath: string | null;
  maxRows: number;
  maxColumns: number;
  maxBytes: number;
}

/** A template is ended at its deadline by the process that has forked it; that one is killed this much later if it is silent. */
const graceMs = 2_000;

/** Runs a template in a process that is ready for it. Its files are removed from there afterwards, also after errors. */
export async function runTemplate(process: QueryProcess, run: TemplateRun): Promise<Done> {
  const { resultPath, ...limits } = run;
  const names = Object.keys(run.args);
  const places = names.map((_, k) => join('open', `${k}.arrow`));
  try {
    const args = await Promise.all(names.map((name, k) => share(process, name, run.args[name] ?? null, places[k] as string)));
    const answer = await process.ask({ ...limits, args } as never, run.timeoutMs + graceMs);
    const done = readReport(readEnded(answer.reply), answer.body, run);
    if (resultPath !== null) await takeResult(process, resultPath, run.maxBytes);
    return done;
  } catch (error) {
    if (!process.gone && !(await hasFolders(process.folders)) && !process.gone)
      throw new FoldersGone('the folders of a process for Python are gone', { cause: error });
    // After anything but a refusal of the template the state of the process is not known.
    if (!(error instanceof DomainError)) process.kill();
    throw explainGone(error, run);
  } finally {
    if (!process.gone) await Promise.all(places.map((place) => rm(join(process.folders.inDir, place), { force: true })));
  }
}

async function share(process: QueryProcess, name: string, path: string | null, place: string) {
  if (path === null) return { name, path: null, bytes: 0 };
  await shareFile(path, join(process.folders.inDir, place), process.folders.owner);
  return { name, path: join(process.seen.inDir, place), bytes: (await stat(path)).size };
}

function readEnded(reply: unknown): Ended {
  const { ended } = reply as { ended?: unknown };
  if (ended !== null && !Number.isSafeInteger(ended)) throw new Error('a process for Python sent nonsense');
  return ended as Ended;
}

/** A copy, because the process goes on using its file. */
async function takeResult(process: QueryProcess, target: string, maxBytes: number): Promise<void> {
  const path = join(process.folders.outDir, tableName);
  if ((await stat(path)).size > maxBytes) throw new Error('a process for Python wrote more than it may');
  await copyFile(path, target, constants.COPYFILE_FICLONE);
}

function explainGone(error: unknown, limits: RunLimits): unknown {
  if (!(error instanceof ProcessGone)) return error;
  if (error.why === 'timeout') return tookTooLong(limits, error);
  // Nobody but the kernel, which is short of memory, is known to kill them.
  if (error.why === 'crash' || error.why === 'killed') return tookTooMuch(limits, error);
  return new DomainError('unavailable', 'The service is stopping.', 'Try again in a moment.', {
    headers: { 'Retry-After': '5' },
    cause: error,
  });
}
