import type { Readable } from 'node:stream';
import { type StreamStorage, streamFile } from '../engine.ts';
import type { DataFormat } from '../formats/streamRows.ts';
import type { ResultColumn } from './protocol.ts';
import { selectResult } from './resultTypes.ts';

/** Streams the rows of a query's result, or a page of them. The file is released when the stream closes. */
export function streamResultFile(
  storage: StreamStorage,
  columns: ResultColumn[],
  open: () => Promise<{ path: string; release(): void | Promise<void> }>,
  format: DataFormat,
  page?: { limit: number; offset: number },
): Promise<Readable> {
  const part = page ? ` LIMIT ${page.limit} OFFSET ${page.offset}` : '';
  return streamFile(storage, format, open, (path) => `${selectResult(path, columns)}${part}`);
}
