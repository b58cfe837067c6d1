import { join } from 'node:path';
import { bundleCode } from '../builds/bundleCode.mjs';
import { keepBuild } from '../builds/keepBuild.mjs';
import { type ChildProgram, childSettings, describeProgram } from '../duckdb/sandbox/program.ts';

const entries = { files: 'activities/ingest/fileProgram/main.ts' };
const sources = ['activities/ingest', 'core', 'store'];

export async function prepareFileBundle(): Promise<string> {
  const dir = await keepBuild({ name: 'files', sources, make: () => bundleCode({ entries, sources, settings: childSettings }) });
  return join(dir, 'files.mjs');
}

const MIB = 1024 * 1024;

/**
 * The limit of the operating system stands a little above that which the service watches, which says more clearly what happened.
 * Cells are kept outside of JavaScript's heap, texts inside.
 */
export function findFileProgram(memoryBytes: number): Promise<ChildProgram> {
  return describeProgram(prepareFileBundle, {
    memoryBytes: memoryBytes + 256 * MIB,
    heapMb: Math.max(64, Math.floor((0.75 * memoryBytes) / MIB)),
    youngMb: 32,
    firstOldMb: Math.floor(memoryBytes / MIB / 8),
    threads: 2,
    collects: true,
  });
}
