import { type FileProcesses, type FileProcessOptions, openFileProcesses } from '../fileProcesses/openFileProcesses.ts';
import { findChartProgram } from './program.ts';

/** Charts of one user that are drawn at the same time; one more is for somebody else. */
const processes = 1;
const memoryBytes = 512 * 1024 * 1024;
const timeMs = 10_000;

/** Processes that draw charts: their configs are programs of strangers, so time and memory are bounded as for files. */
export function openChartProcesses(options: Pick<FileProcessOptions, 'dir' | 'searchPath' | 'onTrouble'>): Promise<FileProcesses> {
  return openFileProcesses({
    ...options,
    processes,
    memoryBytes,
    timeMs,
    findProgram: findChartProgram,
    words: { work: 'Drawing the chart', one: 'one chart', fix: 'Aggregate the rows first, or make the chart simpler.' },
  });
}
