import type { DuckDBDataChunk } from '@duckdb/node-api';
import * as arrow from 'apache-arrow';
import { type ArrowColumn, planArrowColumn } from './arrowColumns.ts';
import type { QueryColumn } from './describeQuery.ts';
import { readColumn } from './rawChunk.ts';
import type { RowWriter } from './rowWriter.ts';

/** Arrow's IPC stream: the schema, one record batch per chunk, the end mark. */
export function makeArrowWriter(columns: QueryColumn[]): RowWriter {
  const plans = columns.map(({ type }) => planArrowColumn(type));
  const fields = columns.map(({ name }, i) => new arrow.Field(name, (plans[i] as ArrowColumn).type, true));
  const schema = new arrow.Schema(fields);
  const row = new arrow.Struct(fields);
  const writer = new CollectingWriter();
  return {
    select: (sqlOf) => plans.map((plan, i) => `${plan.select(sqlOf(i))} AS v${i}`).join(', '),
    begin() {
      writer.reset(undefined, schema);
      return writer.take();
    },
    write(chunk: DuckDBDataChunk) {
      const children = plans.map((plan, i) => plan.read(readColumn(chunk, i)));
      const data = new arrow.Data(row, 0, chunk.rowCount, 0, {}, children);
      writer.write(new arrow.RecordBatch(schema, data));
      return writer.take();
    },
    end() {
      writer.reset();
      return writer.take();
    },
  };
}

/** Returns written bytes directly, because the base class queues them without back-pressure. */
export class CollectingWriter extends arrow.RecordBatchStreamWriter {
  private pieces: Uint8Array[] = [];

  protected override _write(chunk: ArrayBufferView): this {
    if (this._started && chunk.byteLength > 0) this.pieces.push(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    return this;
  }

  /** Copies, because some pieces are views of DuckDB's memory. */
  take(): Buffer {
    const bytes = Buffer.concat(this.pieces);
    this.pieces = [];
    return bytes;
  }
}
