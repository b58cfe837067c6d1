import { open, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { BlobStore } from '../../blobs/blobStore.ts';
import { quoteText } from '../relation.ts';
import { resultTypeName, storeColumn } from '../sandbox/resultTypes.ts';
import { describeQuery } from './describeQuery.ts';

/** Cells per row group: what is gathered in memory before it is written. */
const groupCells = 2_000_000;
const groupRows = { least: 2_048, most: 122_880 };
const groupBytes = 16 * 1024 * 1024;

/**
 * Writes the rows of a trusted SELECT as a Parquet file for others. What Parquet cannot hold exactly becomes text. `rowBytes` is
 * the length of the texts of a row.
 */
export async function copyAsParquet(connection: DuckDBConnection, sql: string, path: string, rowBytes: number): Promise<void> {
  const columns = await describeQuery(connection, sql);
  const list = columns.map(({ name, type }, i) => storeColumn({ name, type: resultTypeName(type) }, `q.c${i}`));
  const names = columns.map((_, i) => `c${i}`);
  const fitting = Math.min(groupRows.most, Math.max(groupRows.least, Math.floor(groupCells / columns.length)));
  const rows = Math.max(1, Math.min(fitting, Math.floor(groupBytes / Math.max(1, rowBytes))));
  await connection.run(
    `COPY (SELECT ${list.join(', ')} FROM (${sql}\n) AS q(${names.join(', ')})) TO ${quoteText(path)} (FORMAT parquet, ROW_GROUP_SIZE ${rows})`,
  );
}

/** The bytes of a file that `write` makes, for this stream only: it has no name any more when the stream begins. */
export async function streamWritten(blobs: BlobStore, write: (path: string) => Promise<void>): Promise<Readable> {
  const path = await blobs.draft();
  try {
    await write(path);
    const file = await open(path);
    return file.createReadStream();
  } finally {
    await rm(path, { force: true });
  }
}
