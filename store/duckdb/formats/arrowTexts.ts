import * as arrow from 'apache-arrow';
import { cellJson } from '../../../core/cells/cellJson.ts';
import { type ColumnType, parseColumnType } from '../../../core/cells/columnTypes.ts';
import { eachYielding } from '../../eachYielding.ts';
import { readDouble, storeType } from '../../parquet/storedTypes.ts';
import { parseTypeName } from '../typeNames.ts';
import { planArrowColumn } from './arrowColumns.ts';
import { CollectingWriter } from './arrowStream.ts';

/** Columns given by the canonical texts of their cells. */
export interface TextColumn {
  name: string;
  /** The name of a column's type. */
  type: string;
}

export interface TextWriter {
  begin(): string | Buffer;
  /** The texts of each column in some rows. Other requests may run meanwhile. */
  write(texts: (string | null)[][], rowCount: number): Promise<string | Buffer>;
  end(): string | Buffer;
}

/** An Arrow stream with the same types as columns read by DuckDB: one record batch for each call of `write`. */
export function makeArrowTextWriter(columns: TextColumn[]): TextWriter {
  const fields = columns.map(({ name, type }) => new arrow.Field(name, planArrowColumn(parseTypeName(type)).type, true));
  const schema = new arrow.Schema(fields);
  const writer = new CollectingWriter();
  return {
    begin() {
      writer.reset(undefined, schema);
      return writer.take();
    },
    async write(texts, rowCount) {
      if (rowCount === 0) return Buffer.alloc(0);
      const children: arrow.Data[] = [];
      await eachYielding(columns, ({ type }, i) => {
        children.push(readTexts((fields[i] as arrow.Field).type, parseColumnType(type) as ColumnType, texts[i] ?? []));
      });
      writer.write(new arrow.RecordBatch(schema, new arrow.Data(new arrow.Struct(fields), 0, rowCount, 0, {}, children)));
      return writer.take();
    },
    end() {
      writer.reset();
      return writer.take();
    },
  };
}

function readTexts(arrowType: arrow.DataType, type: ColumnType, texts: (string | null)[]): arrow.Data {
  const { length } = texts;
  const validity = new Uint8Array(Math.ceil(length / 64) * 8);
  let nulls = 0;
  for (const [i, text] of texts.entries()) {
    if (text === null) nulls += 1;
    else setBit(validity, i);
  }
  const make = (data: ArrayBufferView, offsets?: Int32Array) =>
    new arrow.Data(arrowType, 0, length, nulls, {
      [arrow.BufferType.DATA]: data as never,
      [arrow.BufferType.OFFSET]: offsets as never,
      [arrow.BufferType.VALIDITY]: validity,
    });
  switch (type.kind) {
    case 'VARCHAR':
    case 'JSON': {
      const bytes = texts.map((text) => Buffer.from(text === null ? '' : type.kind === 'JSON' ? cellJson(type, text) : text));
      const offsets = new Int32Array(length + 1);
      for (const [i, each] of bytes.entries()) offsets[i + 1] = (offsets[i] as number) + each.length;
      return make(Buffer.concat(bytes), offsets);
    }
    case 'BOOLEAN': {
      const bits = new Uint8Array(Math.ceil(length / 8));
      for (const [i, text] of texts.entries()) if (text === 'true') setBit(bits, i);
      return make(bits);
    }
    case 'DOUBLE':
      return make(Float64Array.from(texts, (text) => (text === null ? 0 : readDouble(text))));
    case 'DECIMAL': {
      const words = new BigUint64Array(length * 2);
      for (const [i, text] of texts.entries()) {
        const unscaled = BigInt(text === null ? 0 : text.replace('.', ''));
        words[i * 2] = BigInt.asUintN(64, unscaled);
        words[i * 2 + 1] = BigInt.asUintN(64, unscaled >> 64n);
      }
      return make(new Uint32Array(words.buffer));
    }
    default:
      return make(readFixed(type, texts));
  }
}

function setBit(bits: Uint8Array, at: number): void {
  bits[at >> 3] = (bits[at >> 3] as number) | (1 << (at & 7));
}

/** Integers, dates and times have the same bytes in Parquet and Arrow, but Parquet leaves out nulls. */
function readFixed(type: ColumnType, texts: (string | null)[]): Int32Array | BigInt64Array {
  const values = storeType(type).open();
  for (const [i, text] of texts.entries()) if (text !== null) values.putString(i, text);
  const packed = Buffer.concat(values.finish(texts.length).page.slice(1));
  const width = type.kind === 'DATE' ? 4 : 8;
  const spread = new Uint8Array(texts.length * width);
  let at = 0;
  for (const [i, text] of texts.entries()) {
    if (text === null) continue;
    spread.set(packed.subarray(at, at + width), i * width);
    at += width;
  }
  return width === 4 ? new Int32Array(spread.buffer) : new BigInt64Array(spread.buffer);
}
