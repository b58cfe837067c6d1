import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ChildReport } from './ingestChild.ts';
import { makeXlsx } from './makeXlsx.ts';
import { preparePython } from './preparePython.ts';
import type { BenchRig } from './services.ts';

const rounds = 3;
const rowCount = 200_000;
const targets = { ratio: 1.5, peakMb: 800, workerMb: 600, growth: 12 };
const packages = ['fastexcel==0.21.0', 'duckdb==2.0.0', 'pyarrow==26.0.1'];

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/**
 * Compares making raw tables from a workbook of 200,000 rows × 12 with fastexcel and DuckDB, and measures how structuring grows
 * with rows.
 */
export async function benchIngest(rig: BenchRig): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-ingest-'));
  try {
    const [large, small] = [join(folder, 'large.xlsx'), join(folder, 'small.xlsx')];
    await makeXlsx(large, rowCount);
    await makeXlsx(small, rowCount / 10);
    console.log(`${rowCount} rows × 12, ${((await stat(large)).size / 1e6).toFixed(1)} MB; best of ${rounds}, in turn`);
    const baseline = await compareIngest(large, folder);
    await measureUpload(rig, large, baseline);
    await compareStructuring(large, small);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function compareIngest(file: string, folder: string): Promise<ChildReport | null> {
  const python = await preparePython('bench-python', packages, 'import fastexcel, duckdb, pyarrow').catch((error: unknown) => {
    console.log(`fastexcel cannot be had here (${error instanceof Error ? error.message.split('\n')[0] : error}): nothing to compare with`);
    return null;
  });
  const ours = startChild(process.execPath, ['--import', 'tsx', here('ingestChild.ts'), 'ingest', file, join(folder, 'blobs')]);
  const theirs = python === null ? null : startChild(python, [here('baseline.py'), file, join(folder, 'baseline.parquet')]);
  const reports: Record<'ours' | 'theirs', ChildReport[]> = { ours: [], theirs: [] };
  for (let round = 0; round < rounds; round += 1) {
    if (theirs) reports.theirs.push(await theirs.run());
    reports.ours.push(await ours.run());
  }
  theirs?.stop();
  ours.stop();
  const [mine, base] = [best(reports.ours), theirs && best(reports.theirs)];
  if (base) console.log(`fastexcel + DuckDB   ${describe(base)}`);
  console.log(`raw tables           ${describe(mine)}; the first time ${reports.ours[0]?.seconds.toFixed(2)} s`);
  if (base) {
    const ratios = `${(mine.seconds / base.seconds).toFixed(2)}× by the clock, ${(mine.cpuSeconds / base.cpuSeconds).toFixed(2)}× in processor time`;
    console.log(`ratio                ${ratios}; wanted: at most ${targets.ratio}×`);
  }
  console.log(`peak memory          ${mine.peakMb.toFixed(0)} MB; wanted: under ${targets.peakMb} MB`);
  return base;
}

/** From the first byte of the upload to the answer of a first query, through the API and a worker. */
async function measureUpload({ url, token, workerPid }: BenchRig, file: string, baseline: ChildReport | null): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const post = async (path: string, body: unknown) => {
    const init = body instanceof FormData ? { body } : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
    const response = await fetch(`${url}${path}`, { method: 'POST', ...init, headers: { ...headers, ...init.headers } });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as { id: string };
  };
  const bytes = await readFile(file);
  const upload = async (content: Uint8Array<ArrayBuffer>, structuring: string) => {
    const { id } = await post('/api/v1/workbooks', { title: structuring });
    const form = new FormData();
    form.set('structuring', structuring);
    form.set('file', new Blob([content]), 'bench.xlsx');
    const start = performance.now();
    await post(`/api/v1/workbooks/${id}/sources`, form);
    await post(`/api/v1/workbooks/${id}/query`, { sql: 'SELECT count(*) FROM bench' });
    return (performance.now() - start) / 1000;
  };
  const measure = async (name: string, structuring: string) => {
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) times.push(await upload(bytes, structuring));
    const quickest = Math.min(...times);
    const ratio = baseline ? `, ${(quickest / baseline.seconds).toFixed(2)}× fastexcel + DuckDB; wanted: at most ${targets.ratio}×` : '';
    console.log(`${name.padEnd(20)} ${quickest.toFixed(2)} s (the first time ${times[0]?.toFixed(2)} s)${ratio}`);
  };
  await measure('upload, raw', 'skip');
  await measure('upload, structured', 'auto');
  const status = await readFile(`/proc/${workerPid}/status`, 'utf8');
  console.log(
    `the worker's peak    ${(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024).toFixed(0)} MB; wanted: under ${targets.workerMb} MB`,
  );
}

/** Compares processor time: on a shared machine elapsed time depends on others. */
async function compareStructuring(large: string, small: string): Promise<void> {
  const measure = async (file: string): Promise<ChildReport> => {
    const child = startChild(process.execPath, ['--import', 'tsx', here('ingestChild.ts'), 'structure', file]);
    const reports: ChildReport[] = [];
    for (let round = 0; round < rounds; round += 1) reports.push(await child.run());
    child.stop();
    return best(reports);
  };
  const [few, many] = [await measure(small), await measure(large)];
  console.log(`structuring          ${describe(few)} for ${rowCount / 10} rows`);
  console.log(`                     ${describe(many)} for ${rowCount} rows`);
  console.log(
    `growth               ${(many.cpuSeconds / few.cpuSeconds).toFixed(1)}× for 10× the rows; wanted: at most ${targets.growth}×`,
  );
}

interface Child {
  run(): Promise<ChildReport>;
  stop(): void;
}

function startChild(program: string, args: string[]): Child {
  const child: ChildProcess = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error(`${program} has no pipes`);
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  return {
    async run() {
      stdin.write('\n');
      const { value, done } = await lines.next();
      if (done) throw new Error(`${args[0]} ended early`);
      return JSON.parse(value) as ChildReport;
    },
    stop: () => stdin.end(),
  };
}

function best(reports: ChildReport[]): ChildReport {
  return {
    seconds: Math.min(...reports.map(({ seconds }) => seconds)),
    cpuSeconds: Math.min(...reports.map(({ cpuSeconds }) => cpuSeconds)),
    peakMb: Math.max(...reports.map(({ peakMb }) => peakMb)),
  };
}

function describe({ seconds, cpuSeconds, peakMb }: ChildReport): string {
  return `${seconds.toFixed(2)} s (${cpuSeconds.toFixed(2)} s of processor), ${peakMb.toFixed(0)} MB`;
}
