import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterAll } from 'vitest';
import { DomainError } from '../../core/errors.ts';
import { createProcessRegistry } from '../../scripts/embedded/processRegistry.ts';
import { setUpPython } from '../../scripts/embedded/python.ts';
import { createReport } from '../../scripts/embedded/report.ts';
import { listCacheDirs, loadConfig } from '../../store/config.ts';
import { streamRows } from '../../store/duckdb/formats/streamRows.ts';
import { quoteName, quoteText } from '../../store/duckdb/relation.ts';
import { openPython, type Python, type PythonOptions, type PythonResult, type PythonRun } from '../../store/python/openPython.ts';
import type { PythonFault } from '../../store/python/pythonFault.ts';
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
  /** By column, as DuckDB reads them. */
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
    const resultPath = join(dir, `result${files}.parquet`);
    const made = await python.run({ userId: 'a', template, args, resultPath, maxRows: 1_000_000, maxBytes: 100_000_000, ...more });
    const columns = made.columns.map(({ name, type }): [string, string] => [name, type]);
    return { columns, rowCount: made.rowCount, values: await readResult(connection, made) };
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

/** How types are read from the file, before they are cast. */
const fileTypes: Record<string, string> = { JSON: 'VARCHAR', TIME: 'TIME WITH TIME ZONE' };

/** Has the types that were told, as DuckDB reads them. */
async function readResult(connection: DuckDBConnection, { resultPath, columns }: PythonResult): Promise<(string | null)[][]> {
  const from = `FROM read_parquet(${quoteText(resultPath)})`;
  const types = (await connection.runAndReadAll(`SELECT column_name, column_type FROM (DESCRIBE ${from})`)).getRows();
  const told = columns.map(({ name, type }) => [name, fileTypes[type] ?? type]);
  if (JSON.stringify(types) !== JSON.stringify(told)) throw new Error(`the file has ${JSON.stringify(types)}, not ${JSON.stringify(told)}`);
  const texts = columns.map(({ name, type }) => `CAST(CAST(${quoteName(name)} AS ${type}) AS VARCHAR)`).join(', ');
  const rows = (await connection.runAndReadAll(`SELECT ${texts} ${from}`)).getRows() as (string | null)[][];
  return columns.map((_, k) => rows.map((row) => row[k] ?? null));
}
