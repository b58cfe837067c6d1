import type { DuckDBConnection, DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api';

const interruptMs = 50;

/**
 * The chunks of a query, as the engine makes them, one ahead of the reader.
 *
 * To the API a query that fails on the way looks like one that has ended: the next chunk is empty, and the error is
 * kept from us. So the query runs in a transaction: a failure aborts it, which the statement after the last chunk finds.
 * Until `close` the connection belongs to the reader; it must not be in a transaction of the caller's.
 */
export class ChunkReader {
  private coming: Promise<DuckDBDataChunk | null> | null = null;
  private finished = false;

  private constructor(
    private readonly connection: DuckDBConnection,
    private readonly result: DuckDBResult,
  ) {}

  /** `start` runs inside the transaction, so that what it learns of the tables is true for the query that it starts. */
  static async open(connection: DuckDBConnection, start: () => Promise<DuckDBResult>): Promise<ChunkReader> {
    await connection.run('BEGIN');
    try {
      return new ChunkReader(connection, await start());
    } catch (error) {
      await connection.run('ROLLBACK');
      throw error;
    }
  }

  /** Null at the end. The engine works on the chunk after this one while this one is used. */
  async next(): Promise<DuckDBDataChunk | null> {
    if (this.finished) return null;
    const chunk = await (this.coming ?? this.result.fetchChunk());
    if (chunk === null || chunk.rowCount === 0) {
      this.coming = null;
      await this.finish();
      return null;
    }
    this.coming = this.result.fetchChunk();
    // A failure is seen when this chunk is asked for, which may be later: until then it is no unhandled one.
    this.coming.catch(() => null);
    return chunk;
  }

  /** Stops a query that has not ended, and waits until the engine has let go of the connection. `busy`: a call of `next`. */
  async close(busy?: Promise<unknown>): Promise<void> {
    if (this.finished) return;
    const stop = interruptUntilStopped(this.connection);
    await Promise.allSettled([busy, this.coming]);
    stop();
    if (!this.finished) await this.connection.run('ROLLBACK');
    this.finished = true;
  }

  private async finish(): Promise<void> {
    try {
      await this.connection.run('SELECT 1');
    } catch (cause) {
      throw new Error('the query failed or was stopped while its rows were read', { cause });
    }
    await this.connection.run('COMMIT');
    this.finished = true;
  }
}

/** Again and again: an interrupt that comes before a query has begun is forgotten when it begins. */
export function interruptUntilStopped(connection: DuckDBConnection): () => void {
  connection.interrupt();
  const timer = setInterval(() => connection.interrupt(), interruptMs);
  return () => clearInterval(timer);
}
