import type { DuckDBConnection } from '@duckdb/node-api';
import type { BlobStore } from '../blobs/blobStore.ts';
import { createTailTable, openFiles, quoteName, type Relation } from './relation.ts';

/** A FROM expression for each relation. `release` drops their log tables and releases their files. */
export interface OpenedRelations {
  froms: string[];
  release(): Promise<void>;
}

let tails = 0;

/** Opens the files of the relations and creates temporary tables for their logs. */
export async function openRelations(connection: DuckDBConnection, blobs: BlobStore, relations: Relation[]): Promise<OpenedRelations> {
  const opened = await openFiles(blobs, relations);
  const made: string[] = [];
  const release = async () => {
    opened.release();
    for (const tailName of made) await connection.run(`DROP TABLE ${quoteName(tailName)}`);
  };
  try {
    const froms: string[] = [];
    for (const { tail, select } of relations) {
      tails += 1;
      const tailName = `svc_tail_${tails}`;
      if (tail) {
        await connection.run(createTailTable(tailName, tail.columns), [tail.json]);
        made.push(tailName);
      }
      froms.push(`(${select(opened.pathOf, tailName)})`);
    }
    return { froms, release };
  } catch (error) {
    await release();
    throw error;
  }
}
