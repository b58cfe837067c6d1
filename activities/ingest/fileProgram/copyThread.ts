import { once } from 'node:events';
import { parentPort, threadId, Worker } from 'node:worker_threads';
import { DomainError, type ProblemCode } from '../../../core/errors.ts';
import { type CopiedGrid, type PlaceSheet, type RawSheet, writeGrids } from '../writeRaw.ts';
import { explainShortage } from './explainShortage.ts';
import { openOutFolder } from './outFolder.ts';

/**
 * A thread that writes the raw tables of large workbooks while they are structured: each takes about as long, and neither needs the
 * other. The arrays of large sheets are shared with it, and nobody changes them.
 */

export type RowBases = [sheet: string, rowBase: number][];

export const placeByBase = (rowBases: RowBases): PlaceSheet => {
  const bases = new Map(rowBases);
  return (_, sheet) => ({ prefix: '', rowBase: bases.get(sheet) ?? 0 });
};

interface Job {
  grids: CopiedGrid[];
  rowBases: RowBases;
}

type Reply = { sheets: RawSheet[] } | { refusal: { code: ProblemCode; detail: string; suggestedFix: string } } | { error: Error };

export interface CopyThread {
  /** Writes to the folder, once. Begins at once; the caller may go on computing. */
  copy(grids: CopiedGrid[], rowBases: RowBases): Promise<RawSheet[]>;
  end(): Promise<unknown>;
}

/** Of the youngest objects of the thread, which makes few. */
const youngMb = 24;

/** @param program what a thread runs: `serveCopies`. It is for one workbook, and gives back all its memory when it ends. */
export function startCopyThread(program: string, outDir: string): CopyThread {
  const thread = new Worker(program, { argv: ['', outDir], resourceLimits: { maxYoungGenerationSizeMb: youngMb } });
  const answer = once(thread, 'message') as Promise<[Reply]>;
  // Who copies hears of a failure, also of one before.
  answer.catch(() => {});
  return {
    async copy(grids, rowBases) {
      const job: Job = { grids: grids.map(pickCopied), rowBases };
      thread.postMessage(job);
      const [reply] = await answer;
      if ('sheets' in reply) return reply.sheets;
      if ('error' in reply) throw reply.error;
      const { code, detail, suggestedFix } = reply.refusal;
      throw new DomainError(code, detail, suggestedFix);
    },
    end: () => thread.terminate(),
  };
}

/** Other parts of a grid are not needed, and may not be passed on. */
function pickCopied(grid: CopiedGrid): CopiedGrid {
  const { sheet, size, rows, columns, kinds, numbers, texts, strings, formulaIds, formulas, styleIds, styles } = grid;
  return { sheet, size, rows, columns, kinds, numbers, texts, strings, formulaIds, formulas, styleIds, styles };
}

/** In the thread: waits for a job and answers it. */
export function serveCopies(outDir: string): void {
  const blobs = openOutFolder(outDir, `raw${threadId}.`);
  parentPort?.once('message', async ({ grids, rowBases }: Job) => {
    const reply = (answer: Reply) => parentPort?.postMessage(answer);
    try {
      reply({ sheets: await writeGrids({ blobs }, grids, placeByBase(rowBases)) });
    } catch (cause) {
      const error = explainShortage(cause);
      if (error instanceof DomainError) {
        const { code, detail, suggestedFix } = error;
        reply({ refusal: { code, detail, suggestedFix } });
      } else reply({ error: error instanceof Error ? error : new Error(String(error)) });
    }
  });
}
