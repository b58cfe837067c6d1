import type { DuckDBConnection, DuckDBDataChunk, DuckDBResult } from '@duckdb/node-api';

const interruptMs = 50;

/**
 * The chunks of a query, read one ahead.
 *
 * DuckDB's API does not report an error after the first chunk: the query just seems to end. So it runs in a transaction,
 * which a failure aborts, and a statement after the last chunk notices that. Until `close` the connection belongs to the
 * reader; the caller must not have a transaction on it.
 */
export class ChunkReader {
  private coming: Promise<DuckDBDataChunk | null> | null = null;
  private finished = false;

  private constructor(
    private readonly connection: DuckDBConnection,
    private readonly result: DuckDBResult,
  ) {}

  /** `start` runs inside the transaction, so that it sees the same tables as the query. */
  static async open(connection: DuckDBConnection, start: () => Promise<DuckDBResult>): Promise<ChunkReader> {
    await connection.run('BEGIN');
    try {
      return new ChunkReader(connection, await start());
    } catch (error) {
      await connection.run('ROLLBACK');
      throw error;
    }
  }

  /** Null at the end. DuckDB computes the next chunk while this one is used. */
  async next(): Promise<DuckDBDataChunk | null> {
    if (this.finished) return null;
    const chunk = await (this.coming ?? this.result.fetchChunk());
    if (chunk === null || chunk.rowCount === 0) {
      this.coming = null;
      await this.finish();
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

/** Interrupts repeatedly, because an interrupt before the query has started has no effect. */
export function interruptUntilStopped(connection: DuckDBConnection): () => void {
  connection.interrupt();
  const timer = setInterval(() => connection.interrupt(), interruptMs);
  return () => clearInterval(timer);
}
