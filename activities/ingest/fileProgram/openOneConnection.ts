import { DuckDBInstance } from '@duckdb/node-api';
import type { DraftStorage } from '../../../store/duckdb/writeFile.ts';

/** DuckDB with the one connection that this process needs: it does one thing at a time. */
export async function openOneConnection(memoryLimitMb: number): Promise<DraftStorage['engine']> {
  const instance = await DuckDBInstance.create(':memory:', {
    memory_limit: `${memoryLimitMb}MB`,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    preserve_insertion_order: 'true',
  });
  const connection = await instance.connect();
  return { use: (work) => work(connection) };
}
