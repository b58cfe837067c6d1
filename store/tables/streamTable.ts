import { rename, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { estimateRowBytes } from '../../core/table/rowBytes.ts';
import { rowIdColumn } from '../../core/table/table.ts';
import { holdForStream, openSelect, writeParquet } from '../duckdb/engine.ts';
import { copyAsParquet, streamWritten } from '../duckdb/formats/parquetCopy.ts';
import { type DataFormat, startChainedRows } from '../duckdb/formats/streamRows.ts';
import { quoteName, quoteText } from '../duckdb/relation.ts';
import { parseTypeName } from '../duckdb/typeNames.ts';
import { isWide } from '../duckdb/wide.ts';
import { currentAccounts, runForAccounts } from '../pg/accountScope.ts';
import { openProjection } from './fetchRows.ts';
import { listIdsAfter } from './findRowIds.ts';
import type { Projection } from './projection.ts';
import { streamWideParts, wideRowsAtOnce } from './streamWideRows.ts';
import type { TableStorage } from './tableStorage.ts';

/** How much is sorted and held at a time, by what the files say of the rows' length. In memory short rows are longer. */
const windowBytes = 16 * 1024 * 1024;
const windowRows = 200_000;

/**
 * The whole content of a version in row order. It is read window by window of row ids, each when the reader has taken the one
 * before, so memory does not grow with the table.
 */
export async function streamTable(storage: TableStorage, projection: Projection, format: DataFormat): Promise<Readable> {
  if (isWide(projection.columns)) return streamWideParts(storage, projection, format, listInTurn(storage, projection));
  // Windows are opened by whoever reads the stream, outside of the request.
  const accounts = currentAccounts();
  const windows = cutWindows(projection);
  const open = (window: Window) => runForAccounts(accounts, () => openProjection(storage, projection, window));
  const columns = projection.columns.map(({ name, type }) => ({ name, type: parseTypeName(type) }));
  const names = columns.map(({ name }) => quoteName(name)).join(', ');
  const select = (from: string) => `SELECT ${names} FROM ${from} ORDER BY ${rowIdColumn}`;
  if (format === 'parquet') {
    return streamWritten(storage.blobs, (path) =>
      writeParts(storage, windows, path, async (window, part) => {
        const relation = await open(window);
        await storage.engine.useForStream((connection) =>
          writeParquet(connection, () => openSelect(connection, storage.blobs, relation, select), part),
        );
      }),
    );
  }
  return holdForStream(storage.engine, async (connection) => {
    const body = await startChainedRows(connection, columns, format, async () => {
      const next = windows.next();
      return next.done ? null : openSelect(connection, storage.blobs, await open(next.value), select);
    });
    return { body, release: async () => {} };
  });
}

interface Window {
  min: number;
  max: number;
}

/** At least one, so that a table without rows has columns. */
export function* cutWindows({ visible: { at } }: Projection): Generator<Window, undefined> {
  const width = Math.min(windowRows, Math.max(1, Math.floor(windowBytes / estimateRowBytes(at))));
  const last = at.table.nextRowId - 1;
  for (let min = 1; min === 1 || min <= last; min += width) yield { min, max: Math.max(min, Math.min(last, min + width - 1)) };
}

export function listInTurn(storage: TableStorage, { visible, columns }: Projection): () => Promise<number[]> {
  let after = 0;
  return async () => {
    const ids = await listIdsAfter(storage, visible.at, after, wideRowsAtOnce(columns));
    after = ids.at(-1) ?? after;
    return ids;
  };
}

/** A file for each window, then one of all, which keeps the order without sorting everything. */
async function writeParts(
  { engine, blobs }: TableStorage,
  windows: Iterable<Window>,
  path: string,
  write: (window: Window, part: string) => Promise<void>,
): Promise<void> {
  const parts: string[] = [];
  try {
    for (const window of windows) {
      const part = await blobs.draft();
      parts.push(part);
      await write(window, part);
    }
    if (parts.length === 1) await rename(parts[0] as string, path);
    else {
      const from = `read_parquet([${parts.map(quoteText).join(', ')}])`;
      await engine.useForStream((connection) => copyAsParquet(connection, `SELECT * FROM ${from}`, path));
    }
  } finally {
    for (const part of parts) await rm(part, { force: true });
  }
}
