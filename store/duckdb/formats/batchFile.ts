import { type FileHandle, open, rm } from 'node:fs/promises';
import * as arrow from 'apache-arrow';
import type { ByteBatch, ByteColumn } from '../../../core/table/textBatch.ts';
import { CollectingWriter } from './arrowStream.ts';
import { countNulls } from './rawChunk.ts';

/** A local file of texts in Arrow's stream format, for a process that reaches no store. */
export class BatchFile {
  private readonly writer = new CollectingWriter();
  private readonly schema: arrow.Schema;

  /** Written so far. */
  bytes = 0;

  private constructor(
    readonly path: string,
    private readonly handle: FileHandle,
    columnCount: number,
  ) {
    this.schema = new arrow.Schema(Array.from({ length: columnCount }, (_, i) => new arrow.Field(String(i), new arrow.Utf8(), true)));
    this.writer.reset(undefined, this.schema);
  }

  static async create(path: string, columnCount: number): Promise<BatchFile> {
    return new BatchFile(path, await open(path, 'w'), columnCount);
  }

  async write({ rowCount, columns }: ByteBatch): Promise<void> {
    const children = columns.map((column) => toArrow(column, rowCount));
    const data = new arrow.Data(new arrow.Struct(this.schema.fields), 0, rowCount, 0, {}, children);
    this.writer.write(new arrow.RecordBatch(this.schema, data));
    await this.put();
  }

  async finish(): Promise<void> {
    this.writer.reset();
    await this.put();
    await this.handle.close();
  }

  async remove(): Promise<void> {
    await this.handle.close().catch(() => {});
    await rm(this.path, { force: true });
  }

  private async put(): Promise<void> {
    const bytes = this.writer.take();
    this.bytes += bytes.length;
    await this.handle.writeFile(bytes);
  }
}

function toArrow({ bytes, offsets, validity }: ByteColumn, rowCount: number): arrow.Data {
  return new arrow.Data(new arrow.Utf8(), 0, rowCount, countNulls({ validity, rowCount }), {
    [arrow.BufferType.DATA]: bytes,
    [arrow.BufferType.OFFSET]: offsets,
    [arrow.BufferType.VALIDITY]: validity ?? undefined,
  });
}
