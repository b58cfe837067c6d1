import type { Readable } from 'node:stream';
import { type Engine, streamFile } from '../engine.ts';
import type { RowFormat } from '../formats/streamRows.ts';
import type { ResultColumn } from './protocol.ts';
import { selectResult } from './resultTypes.ts';

/** Streams the rows of a query's result, or a page of them. The file is released when the stream closes. */
export function streamResultFile(
  engine: Engine,
  columns: ResultColumn[],
  open: () => Promise<{ path: string; release(): void | Promise<void> }>,
  format: RowFormat,
  page?: { limit: number; offset: number },
): Promise<Readable> {
  const part = page ? ` LIMIT ${page.limit} OFFSET ${page.offset}` : '';
  return streamFile(engine, format, open, (path) => `${selectResult(path, columns)}${part}`);
}
