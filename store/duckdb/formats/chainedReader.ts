import type { DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api';
import { type ChunkReader, interruptUntilStopped } from './chunkReader.ts';

interface OpenedReader {
  reader: ChunkReader;
  release(): Promise<void>;
}

/** The chunks of several queries, one after the other on one connection. Each is released before the next is opened. */
export class ChainedReader {
  private constructor(
    private readonly connection: DuckDBConnection,
    private readonly openNext: () => Promise<OpenedReader | null>,
    private current: OpenedReader | null,
  ) {}

  /** Opens the first query, so that it fails here if it cannot start. */
  static async open(connection: DuckDBConnection, openNext: () => Promise<OpenedReader | null>): Promise<ChainedReader> {
    return new ChainedReader(connection, openNext, await openNext());
  }

  /** Null at the end. */
  async next(): Promise<DuckDBDataChunk | null> {
    while (this.current) {
      const chunk = await this.current.reader.next();
      if (chunk) return chunk;
      await this.leave();
      this.current = await this.openNext();
    }
    return null;
  }

  /** Stops the query that is running, and waits until the connection is free. `busy`: a pending call of `next`. */
  async close(busy?: Promise<unknown>): Promise<void> {
    const stop = busy ? interruptUntilStopped(this.connection) : () => {};
    await Promise.allSettled([busy]);
    stop();
    await this.current?.reader.close();
    await this.leave();
  }

  private async leave(): Promise<void> {
    const left = this.current;
    this.current = null;
    await left?.release();
  }
}
