import { Readable } from 'node:stream';
import type { DuckDBConnection } from '@duckdb/node-api';
import { makeArrowWriter } from './arrowStream.ts';
import { ChunkReader, interruptUntilStopped } from './chunkReader.ts';
import { makeCsvWriter } from './csvStream.ts';
import { describeQuery, type QueryColumn, type QueryParams } from './describeQuery.ts';
import { makeJsonWriter, makeNdjsonWriter } from './jsonStream.ts';
import type { RowWriter } from './rowWriter.ts';

/** Formats that are written row by row. */
export const rowFormats = ['json', 'ndjson', 'arrow', 'csv'] as const;
export type RowFormat = (typeof rowFormats)[number];
/** All formats of rows. A Parquet file is known only when its last row is, so it is written before it is sent. */
export type DataFormat = RowFormat | 'parquet';

const writers: Record<RowFormat, (columns: QueryColumn[]) => RowWriter> = {
  json: makeJsonWriter,
  ndjson: makeNdjsonWriter,
  arrow: makeArrowWriter,
  csv: makeCsvWriter,
};

export const makeWriter = (format: RowFormat, columns: QueryColumn[]): RowWriter => writers[format](columns);

/** How much is sent at once, and how much may wait for a slow reader. */
const pieceBytes = 256 * 1024;

/** A reader that reads nothing for so long is disconnected, because others need the connection. */
export const maxIdleMs = 60_000;

/**
 * The rows of a trusted SELECT as a response body. More is read only when the reader has taken what was there, so memory is
 * bounded by a few chunks. The connection belongs to the stream until `close`: `destroy` interrupts the query, and `close` is
 * emitted when the connection is free.
 */
export function streamRows(connection: DuckDBConnection, sql: string, params: QueryParams | undefined, format: RowFormat): Readable {
  return new RowStream(connection, () => openRows(connection, sql, params, format));
}

export interface StartedRows {
  columns: QueryColumn[];
  body: Readable;
}

/** The same, but rejects if the query cannot start, so that an error can be answered before headers are sent. */
export async function startRows(
  connection: DuckDBConnection,
  sql: string,
  params: QueryParams | undefined,
  format: RowFormat,
  knownColumns?: QueryColumn[],
): Promise<StartedRows> {
  const opened = await openRows(connection, sql, params, format, knownColumns);
  return { columns: opened.columns, body: new RowStream(connection, opened) };
}

interface OpenedRows {
  columns: QueryColumn[];
  writer: RowWriter;
  reader: ChunkReader;
}

async function openRows(
  connection: DuckDBConnection,
  sql: string,
  params: QueryParams | undefined,
  format: RowFormat,
  knownColumns?: QueryColumn[],
): Promise<OpenedRows> {
  const select = sql.replace(/[\s;]+$/, '');
  const columns = knownColumns ?? (await describeQuery(connection, select, params));
  const writer = writers[format](columns);
  const reader = new ChunkReader(connection, await connection.stream(selectWritten(select, columns, writer), params));
  return { columns, writer, reader };
}

/** Columns by position: two may have the same name. The line break ends a comment at the end of the text. */
export function selectWritten(select: string, columns: QueryColumn[], writer: RowWriter): string {
  const names = columns.map((_, i) => `c${i}`).join(', ');
  return `SELECT ${writer.select((i) => `q.c${i}`)} FROM (${select}\n) AS q(${names})`;
}

class RowStream extends Readable {
  private opened: OpenedRows | null;
  /** Written, but not yet pushed. */
  private ready: Buffer = Buffer.alloc(0);
  private begun = false;
  private written = false;
  private working: Promise<void> | null = null;
  private patience: NodeJS.Timeout | undefined;

  constructor(
    private readonly connection: DuckDBConnection,
    private readonly rows: OpenedRows | (() => Promise<OpenedRows>),
  ) {
    super({ highWaterMark: pieceBytes });
    this.opened = typeof rows === 'function' ? null : rows;
  }

  override _read(): void {
    clearTimeout(this.patience);
    if (this.ready.length > 0) this.handOn();
    else if (this.written) this.handOver(null);
    else this.working ??= this.work();
  }

  /** Waits for DuckDB, so that the connection can be used again after `close`. */
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.patience);
    const finish = () => done(error);
    this.stopQuery().then(finish, finish);
  }

  private async stopQuery(): Promise<void> {
    if (!this.opened && this.working) {
      const stop = interruptUntilStopped(this.connection);
      await this.working;
      stop();
    }
    await this.opened?.reader.close(this.working ?? undefined);
  }

  private handOn(): void {
    const piece = this.ready.subarray(0, pieceBytes);
    this.ready = this.ready.subarray(piece.length);
    this.handOver(piece);
  }

  private handOver(piece: Buffer | null): void {
    this.patience = setTimeout(() => this.destroy(new Error(`the reader took nothing for ${maxIdleMs} ms`)), maxIdleMs);
    this.push(piece);
  }

  /** Never rejects; errors destroy the stream. */
  private async work(): Promise<void> {
    try {
      this.ready = await this.writeMore();
    } catch (error) {
      this.destroy(error as Error);
    }
    this.working = null;
    if (!this.destroyed) this._read();
  }

  /** At least `pieceBytes`, unless the rows end before. */
  private async writeMore(): Promise<Buffer> {
    const pieces: Buffer[] = [];
    if (typeof this.rows === 'function') this.opened ??= await this.rows();
    const { reader, writer } = this.opened as OpenedRows;
    if (!this.begun) pieces.push(writer.begin());
    this.begun = true;
    for (let bytes = 0; bytes < pieceBytes && !this.destroyed; bytes += pieces.at(-1)?.length ?? 0) {
      const chunk = await reader.next();
      if (chunk === null) {
        pieces.push(writer.end());
        this.written = true;
        break;
      }
      pieces.push(writer.write(chunk));
    }
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  }
}
