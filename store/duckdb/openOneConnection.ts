import { DuckDBInstance } from '@duckdb/node-api';
import type { Engine } from './engine.ts';

/** DuckDB with one connection, for a process that does one thing at a time. */
export async function openOneConnection(memoryLimitMb: number): Promise<Pick<Engine, 'use'>> {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: `${memoryLimitMb}MB`,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    preserve_insertion_order: 'true',
  });
  const connection = await instance.connect();
  return { use: (work) => work(connection) };
}
