import type { DuckDBConnection } from '@duckdb/node-api';
import type { BlobStore } from '../blobs/blobStore.ts';
import type { Engine } from './engine.ts';
import { createTailTable, openFiles, quoteName, type Relation } from './relation.ts';

let tails = 0;

/** As `withRelation`, for several relations that one statement reads together. */
export async function withRelations<T>(
  storage: { engine: Engine; blobs: BlobStore },
  relations: Relation[],
  work: (connection: DuckDBConnection, froms: string[]) => Promise<T>,
): Promise<T> {
  const opened = await openFiles(storage.blobs, relations);
  try {
    return await storage.engine.use(async (connection) => {
      const made: string[] = [];
      try {
        const froms: string[] = [];
        for (const relation of relations) {
          tails += 1;
          const tailName = `svc_tails_${tails}`;
          if (relation.tail) {
            await connection.run(createTailTable(tailName, relation.tail.columns), [relation.tail.json]);
            made.push(tailName);
          }
          froms.push(`(${relation.select(opened.pathOf, tailName)})`);
        }
        return await work(connection, froms);
      } finally {
        for (const tailName of made) await connection.run(`DROP TABLE ${quoteName(tailName)}`);
      }
    });
  } finally {
    opened.release();
  }
}
