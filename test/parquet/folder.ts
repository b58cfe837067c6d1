import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { type Engine, openEngine } from '../../store/duckdb/engine.ts';

/** A folder and an engine for the tests of one file. */
export interface ParquetFolder {
  folder: string;
  engine: Engine;
  /** For a file that is not there yet. */
  newPath(): string;
}

export async function useParquetFolder(): Promise<ParquetFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-test-parquet-'));
  const engine = await openEngine({ connections: 1, memoryLimitMb: 512 });
  afterAll(async () => {
    await engine.close();
    await rm(folder, { recursive: true, force: true });
  });
  let files = 0;
  const newPath = () => {
    files += 1;
    return join(folder, `${files}.parquet`);
  };
  return { folder, engine, newPath };
}
