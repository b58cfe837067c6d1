import { join } from 'node:path';
import { bundleCode } from '../builds/bundleCode.mjs';
import { keepBuild } from '../builds/keepBuild.mjs';
import { type ChildProgram, childSettings, describeProgram } from '../duckdb/sandbox/program.ts';

const entries = { charts: 'store/charts/child/main.ts' };
const sources = ['core', 'store/builds', 'store/charts', 'store/duckdb', 'store/fileProcesses'];

/** Fonts and the program that makes PNG are in the bundle: the process sees no other file. */
const settings = { ...childSettings, loader: { '.ttf': 'binary', '.wasm': 'binary' } as const };

export async function prepareChartBundle(): Promise<string> {
  const dir = await keepBuild({ name: 'charts', sources, make: () => bundleCode({ entries, sources, settings }) });
  return join(dir, 'charts.mjs');
}

const MIB = 1024 * 1024;

export function findChartProgram(memoryBytes: number): Promise<ChildProgram> {
  return describeProgram(prepareChartBundle, {
    memoryBytes: memoryBytes + 256 * MIB,
    heapMb: Math.floor((0.75 * memoryBytes) / MIB),
    threads: 1,
  });
}
