import type { Readable } from 'node:stream';
import { estimateRowBytes } from '../../core/table/rowBytes.ts';
import { openFrom } from '../duckdb/engine.ts';
import { streamParts } from '../duckdb/formats/streamParts.ts';
import type { DataFormat } from '../duckdb/formats/streamRows.ts';
import { isWide } from '../duckdb/wide.ts';
import { currentAccounts, runForAccounts } from '../pg/accountScope.ts';
import { openProjection } from './fetchRows.ts';
import { listIdsAfter } from './findRowIds.ts';
import type { Projection } from './projection.ts';
import { describeRows, type IdSpan } from './rowSources.ts';
import { streamWideParts, wideRowsAtOnce } from './streamWideRows.ts';
import type { TableStorage } from './tableStorage.ts';

/** How much is sorted at a time, by what the files say of the rows' length. In memory short rows are longer. */
const windowBytes = 1024 * 1024;
const windowRows = 20_000;

/**
 * The whole content of a version in row order. It is read window by window of row ids, each when the reader has taken the one
 * before, so memory does not grow with the table.
 */
export async function streamTable(storage: TableStorage, projection: Projection, format: DataFormat): Promise<Readable> {
  if (isWide(projection.columns)) return streamWideParts(storage, projection, format, listInTurn(storage, projection));
  // Windows are opened by whoever reads the stream, outside of the request.
  const accounts = currentAccounts();
  return streamParts(
    storage,
    {
      ...describeRows(projection),
      spans: cutWindows(projection),
      open: async (connection, window) =>
        openFrom(connection, storage.blobs, await runForAccounts(accounts, () => openProjection(storage, projection, window))),
    },
    format,
    'slow',
  );
}

/** At least one, so that a table without rows has columns. */
export function* cutWindows({ visible: { at }, columns }: Projection): Generator<IdSpan, undefined> {
  const width = Math.min(windowRows, Math.max(1, Math.floor(windowBytes / estimateRowBytes(at, columns))));
  const last = at.table.nextRowId - 1;
  for (let min = 1; min === 1 || min <= last; min += width) yield { min, max: Math.max(min, Math.min(last, min + width - 1)) };
}

export function listInTurn(storage: TableStorage, projection: Projection): () => Promise<number[]> {
  let after = 0;
  return async () => {
    const ids = await listIdsAfter(storage, projection.visible.at, after, wideRowsAtOnce(projection));
    after = ids.at(-1) ?? after;
    return ids;
  };
}
