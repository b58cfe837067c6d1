import { Readable } from 'node:stream';
import type { DuckDBConnection, DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api';
import { makeArrowWriter } from './arrowStream.ts';
import { describeQuery, type QueryColumn, type QueryParams } from './describeQuery.ts';
import { makeJsonWriter, makeNdjsonWriter } from './jsonStream.ts';
import type { RowWriter } from './rowWriter.ts';

export const rowFormats = ['json', 'ndjson', 'arrow'] as const;
export type RowFormat = (typeof rowFormats)[number];

export const contentTypes: Record<RowFormat, string> = {
  json: 'application/json',
  ndjson: 'application/x-ndjson',
  arrow: 'application/vnd.apache.arrow.stream',
};

const writers: Record<RowFormat, (columns: QueryColumn[]) => RowWriter> = {
  json: makeJsonWriter,
  ndjson: makeNdjsonWriter,
  arrow: makeArrowWriter,
};

/** How much is handed on at once, and how much may wait for a slow reader. */
const pieceBytes = 256 * 1024;
const interruptMs = 50;

/**
 * The rows of a trusted SELECT as a response body. The engine is asked for the next chunk only when the reader has
 * taken the last, so memory is bounded by a few chunks. The connection is the stream's own until `close`: a reader that goes
 * away (`destroy`) interrupts the query, and `close` comes only when the engine has let go.
 */
export function streamRows(connection: DuckDBConnection, sql: string, params: QueryParams | undefined, format: RowFormat): Readable {
  return new RowStream(connection, async () => (await openRows(connection, sql, params, format)).source);
}

export interface OpenedRows {
  columns: QueryColumn[];
  body: Readable;
}

/** The same, begun: a query that cannot be planned or started fails here, before a header was sent. */
export async function startRows(
  connection: DuckDBConnection,
  sql: string,
  params: QueryParams | undefined,
  format: RowFormat,
  knownColumns?: QueryColumn[],
): Promise<OpenedRows> {
  const { columns, source } = await openRows(connection, sql, params, format, knownColumns);
  return { columns, body: new RowStream(connection, async () => source) };
}

interface ChunkSource {
  writer: RowWriter;
  result: DuckDBResult;
}

async function openRows(
  connection: DuckDBConnection,
  sql: string,
  params: QueryParams | undefined,
  format: RowFormat,
  knownColumns?: QueryColumn[],
): Promise<{ columns: QueryColumn[]; source: ChunkSource }> {
  const select = sql.replace(/[\s;]+$/, '');
  const columns = knownColumns ?? (await describeQuery(connection, select, params));
  const writer = writers[format](columns);
  // Columns by position: two may have the same name. The line break ends a comment at the end of the text.
  const list = writer.select((i) => `q.c${i}`);
  const names = columns.map((_, i) => `c${i}`).join(', ');
  const result = await connection.stream(`SELECT ${list} FROM (${select}\n) AS q(${names})`, params);
  return { columns, source: { writer, result } };
}

class RowStream extends Readable {
  private source: ChunkSource | null = null;
  private chunks: AsyncGenerator<Buffer> | null = null;
  /** What of the last chunk has not been handed on. */
  private rest: Buffer = Buffer.alloc(0);
  private working: Promise<void> | null = null;
  private ended = false;

  constructor(
    private readonly connection: DuckDBConnection,
    private readonly start: () => Promise<ChunkSource>,
  ) {
    super({ highWaterMark: pieceBytes });
  }

  override _read(): void {
    if (this.pushRest() || this.working) return;
    this.working = this.pull().then(
      (ended) => {
        this.working = null;
        if (this.destroyed) return;
        if (!ended) return this._read();
        this.ended = true;
        this.push(null);
      },
      (error: Error) => {
        this.working = null;
        this.destroy(error);
      },
    );
  }

  /** Waits for the engine, so that whoever sees `close` can use the connection again. */
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    if (this.ended) return done(error);
    // Again and again: an interrupt that comes before the query has begun is forgotten when it begins.
    this.connection.interrupt();
    const interrupting = setInterval(() => this.connection.interrupt(), interruptMs);
    const finish = () => {
      clearInterval(interrupting);
      done(error);
    };
    void Promise.resolve(this.working)
      .then(() => this.chunks?.return(undefined))
      .then(finish, finish);
  }

  /** True when something was handed on. */
  private pushRest(): boolean {
    if (this.rest.length === 0) return false;
    const piece = this.rest.subarray(0, pieceBytes);
    this.rest = this.rest.subarray(piece.length);
    this.push(piece);
    return true;
  }

  /** Collects at least one piece; true at the end of the rows. */
  private async pull(): Promise<boolean> {
    this.source ??= await this.start();
    this.chunks ??= writeChunks(this.source);
    const bytes: Buffer[] = [];
    let size = 0;
    while (size < pieceBytes && !this.destroyed) {
      const next = await this.chunks.next();
      if (next.done) break;
      bytes.push(next.value);
      size += next.value.length;
    }
    this.rest = bytes.length === 1 ? (bytes[0] as Buffer) : Buffer.concat(bytes);
    return this.rest.length === 0;
  }
}

/** The engine works on the next chunk while this one is written. */
async function* writeChunks({ writer, result }: ChunkSource): AsyncGenerator<Buffer> {
  let coming = fetchAhead(result);
  try {
    yield writer.begin();
    for (let chunk = await coming; hasRows(chunk); chunk = await coming) {
      coming = fetchAhead(result);
      yield writer.write(chunk);
    }
    yield writer.end();
  } finally {
    await coming.catch(() => null);
  }
}

/** A failure is seen when the chunk is awaited, which may be later than it happens: until then it is no unhandled one. */
function fetchAhead(result: DuckDBResult): Promise<DuckDBDataChunk | null> {
  const coming = result.fetchChunk();
  coming.catch(() => null);
  return coming;
}

function hasRows(chunk: DuckDBDataChunk | null): chunk is DuckDBDataChunk {
  return chunk !== null && chunk.rowCount > 0;
}
