import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll } from 'vitest';
import { DomainError } from '../../core/errors.ts';
import { createProcessRegistry } from '../../scripts/embedded/processRegistry.ts';
import { setUpPython } from '../../scripts/embedded/python.ts';
import { createReport } from '../../scripts/embedded/report.ts';
import { listCacheDirs, loadConfig } from '../../store/config.ts';
import { streamRows } from '../../store/duckdb/formats/streamRows.ts';
import { openPython, type Python, type PythonOptions, type PythonRun } from '../../store/python/openPython.ts';
import type { PythonFault } from '../../store/python/pythonFault.ts';
import { openArrowRecords } from '../../store/records/arrowRecords.ts';
import { recordLimits } from '../../store/records/recordFile.ts';
import { collect } from '../formats/readBack.ts';

const config = loadConfig();
export const machine = { searchPath: config.machine.searchPath, cacheDirs: listCacheDirs(config) };

/** Python as the service runs it, over tables that DuckDB writes. */
export interface PythonWorld {
  dir: string;
  python: Python;
  /** `tables`: SELECTs by the names of arguments. */
  run(template: string, tables?: Record<string, string>, more?: Partial<PythonRun>): Promise<Answer>;
  refuse(template: string, tables?: Record<string, string>, more?: Partial<PythonRun>): Promise<PythonFault>;
}

export interface Answer {
  columns: [name: string, type: string][];
  rowCount: number;
  /** By column, as the service reads them. */
  values: (string | null)[][];
}

/** Null where Python cannot be run, which is said loudly. */
export async function usePython(options: Partial<PythonOptions> = {}): Promise<PythonWorld | null> {
  await setUpPython({ config, report: createReport(process.stderr), registry: createProcessRegistry(null) });
  const dir = await mkdtemp(join(tmpdir(), 'svc-python-test-'));
  try {
    return await openWorld(dir, options);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    console.error(`\n!!! TESTS OF PYTHON ARE SKIPPED: ${error.detail} ${error.suggestedFix}\n`);
    await rm(dir, { recursive: true, force: true });
    return null;
  }
}

async function openWorld(dir: string, options: Partial<PythonOptions>): Promise<PythonWorld> {
  const troubles: Error[] = [];
  const python = await openPython({
    dir: join(dir, 'processes'),
    ...machine,
    processes: 1,
    timeoutMs: 20_000,
    memoryBytes: 512 * 1024 * 1024,
    onTrouble: (error) => troubles.push(error),
    ...options,
  });
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  let files = 0;
  afterAll(async () => {
    await python.close();
    connection.closeSync();
    await rm(dir, { recursive: true, force: true });
  });
  const run: PythonWorld['run'] = async (template, tables = {}, more = {}) => {
    const args: Record<string, string> = {};
    for (const [name, sql] of Object.entries(tables)) {
      files += 1;
      args[name] = join(dir, `table${files}`);
      await writeFile(args[name], await collect(streamRows(connection, sql, undefined, 'arrow')));
    }
    files += 1;
    const resultPath = join(dir, `result${files}`);
    const made = await python.run({ userId: 'a', template, args, resultPath, maxRows: 1_000_000, maxBytes: 100_000_000, ...more });
    const columns = made.columns.map(({ name, type }): [string, string] => [name, type]);
    return { columns, rowCount: made.rowCount, values: await readResult(made.arrowPath) };
  };
  return {
    dir,
    python,
    run,
    async refuse(...given) {
      const answer = await run(...given).catch((error: unknown) => error);
      if (answer instanceof DomainError) return answer as PythonFault;
      throw answer instanceof Error ? answer : new Error(`it was not refused: ${JSON.stringify(answer)}`);
    },
  };
}

async function readResult(path: string): Promise<(string | null)[][]> {
  const file = await openArrowRecords(path, recordLimits);
  const values: (string | null)[][] = file.columns.map(() => []);
  for await (const batch of file.batches()) for (const [k, column] of batch.columns.entries()) values[k]?.push(...column);
  await file.close();
  return values;
}
