import { type DuckDBConnection, type DuckDBDataChunk, type DuckDBResult, ResultReturnType } from '@duckdb/node-api';

const interruptMs = 50;

/** Of a query, or it was stopped. */
export class FailedWhileRead extends Error {
  override readonly name = 'FailedWhileRead';
}

/**
 * The chunks of a query, read one ahead. Until `close` the connection belongs to the reader.
 *
 * DuckDB's API does not report an error after the first chunk: the rows just seem to end, and the result has no type any more. It
 * has none either after a chunk was asked for behind the end, which is why no more than one is.
 */
export class ChunkReader {
  private coming: Promise<DuckDBDataChunk | null> | null = null;
  private finished = false;

  constructor(
    private readonly connection: DuckDBConnection,
    private readonly result: DuckDBResult,
  ) {}

  /** Null at the end. DuckDB computes the next chunk while this one is used. */
  async next(): Promise<DuckDBDataChunk | null> {
    if (this.finished) return null;
    const chunk = await (this.coming ?? this.result.fetchChunk());
    if (chunk === null || chunk.rowCount === 0) {
      this.coming = null;
      this.finished = true;
      if (this.result.returnType === ResultReturnType.INVALID)
        throw new FailedWhileRead('the query failed or was stopped while its rows were read');
      return null;
    }
    this.coming = this.result.fetchChunk();
    // A failure is reported when this chunk is requested; until then it must not count as an unhandled rejection.
    this.coming.catch(() => null);
    return chunk;
  }

  /** Stops the query if it has not ended, and waits until the connection is free. `busy`: a pending call of `next`. */
  async close(busy?: Promise<unknown>): Promise<void> {
    if (this.finished) return;
    const stop = interruptUntilStopped(this.connection);
    await Promise.allSettled([busy, this.coming]);
    stop();
    // The next statement ends what is left of the query.
    if (!this.finished) await this.connection.run('SELECT 1');
    this.finished = true;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<DuckDBDataChunk> {
    for (let chunk = await this.next(); chunk !== null; chunk = await this.next()) yield chunk;
  }
}

/** Interrupts repeatedly, because an interrupt before the query has started has no effect. */
export function interruptUntilStopped(connection: DuckDBConnection): () => void {
  connection.interrupt();
  const timer = setInterval(() => connection.interrupt(), interruptMs);
  return () => clearInterval(timer);
}
