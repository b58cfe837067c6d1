import { type DuckDBType, DuckDBTypeId as Id } from '@duckdb/node-api';
import * as arrow from 'apache-arrow';
import { isValid } from '../../../core/table/textBatch.ts';
import { jsonExpression, textExpression } from '../json.ts';
import { copyText, countNulls, type RawColumn } from './rawChunk.ts';

/** How a column of DuckDB becomes a column of Arrow. */
export interface ArrowColumn {
  type: arrow.DataType;
  /** The expression to select, given SQL for the column. */
  select(sql: string): string;
  read(column: RawColumn): arrow.Data;
}

type Numbers =
  | Int8Array
  | Int16Array
  | Int32Array
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array;
type NumbersOf = new (buffer: ArrayBufferLike, byteOffset: number, length: number) => Numbers;

/** Types with the same bytes in both are copied. Nested types, and types that Arrow lacks, become text as in JSON. */
export function planArrowColumn(type: DuckDBType): ArrowColumn {
  switch (type.typeId) {
    case Id.BOOLEAN:
      return { type: new arrow.Bool(), select: asIs, read: readBooleans };
    case Id.TINYINT:
      return fixed(new arrow.Int8(), 1, Int8Array);
    case Id.SMALLINT:
      return fixed(new arrow.Int16(), 2, Int16Array);
    case Id.INTEGER:
      return fixed(new arrow.Int32(), 4, Int32Array);
    case Id.BIGINT:
      return fixed(new arrow.Int64(), 8, BigInt64Array);
    case Id.UTINYINT:
      return fixed(new arrow.Uint8(), 1, Uint8Array);
    case Id.USMALLINT:
      return fixed(new arrow.Uint16(), 2, Uint16Array);
    case Id.UINTEGER:
      return fixed(new arrow.Uint32(), 4, Uint32Array);
    case Id.UBIGINT:
      return fixed(new arrow.Uint64(), 8, BigUint64Array);
    case Id.FLOAT:
      return fixed(new arrow.Float32(), 4, Float32Array);
    case Id.DOUBLE:
      return fixed(new arrow.Float64(), 8, Float64Array);
    case Id.DECIMAL:
      return decimal(type.width, type.scale);
    case Id.HUGEINT:
      // The type of sums of BIGINT. DuckDB's own Arrow export does the same; even values of 39 digits keep all of them.
      return decimal(38, 0);
    case Id.DATE:
      return fixed(new arrow.DateDay(), 4, Int32Array);
    case Id.TIME:
      return fixed(new arrow.TimeMicrosecond(), 8, BigInt64Array);
    case Id.TIME_NS:
      return fixed(new arrow.TimeNanosecond(), 8, BigInt64Array);
    case Id.TIMESTAMP:
      return fixed(new arrow.TimestampMicrosecond(), 8, BigInt64Array);
    case Id.TIMESTAMP_S:
      return fixed(new arrow.TimestampSecond(), 8, BigInt64Array);
    case Id.TIMESTAMP_MS:
      return fixed(new arrow.TimestampMillisecond(), 8, BigInt64Array);
    case Id.TIMESTAMP_NS:
      return fixed(new arrow.TimestampNanosecond(), 8, BigInt64Array);
    case Id.TIMESTAMP_TZ:
      return fixed(new arrow.TimestampMicrosecond('UTC'), 8, BigInt64Array);
    case Id.BLOB:
      return text(new arrow.Binary(), asIs);
    case Id.VARCHAR:
      return text(new arrow.Utf8(), type.alias === 'JSON' ? (sql) => jsonText(sql, type) : asIs);
    case Id.LIST:
    case Id.ARRAY:
    case Id.STRUCT:
    case Id.MAP:
      return text(new arrow.Utf8(), (sql) => jsonText(sql, type));
    default:
      return text(new arrow.Utf8(), (sql) => textExpression(sql, type));
  }
}

const asIs = (sql: string) => sql;

function jsonText(sql: string, type: DuckDBType): string {
  return `CAST(to_json(${jsonExpression(sql, type)}) AS VARCHAR)`;
}

function fixed(type: arrow.DataType, width: number, numbers: NumbersOf): ArrowColumn {
  return { type, select: asIs, read: (column) => makeFixed(type, column, toNumbers(numbers, clearNulls(column, width), width)) };
}

function makeFixed(type: arrow.DataType, column: RawColumn, data: Numbers): arrow.Data {
  return new arrow.Data(type, 0, column.rowCount, countNulls(column), buffersOf(column, data));
}

function buffersOf({ validity }: RawColumn, data: Numbers, offsets?: Int32Array) {
  return { [arrow.BufferType.DATA]: data, [arrow.BufferType.OFFSET]: offsets, [arrow.BufferType.VALIDITY]: validity ?? undefined };
}

/**
 * The values with zeros in the place of NULLs. DuckDB leaves old memory there, which could contain values that the reader
 * must not see.
 */
function clearNulls({ validity, rowCount, data }: RawColumn, width: number): Uint8Array {
  const bytes = data(width);
  if (validity === null) return bytes;
  const cleared = new Uint8Array(bytes);
  for (let row = 0; row < rowCount; row++) if (!isValid(validity, row)) cleared.fill(0, row * width, (row + 1) * width);
  return cleared;
}

function toNumbers(numbers: NumbersOf, bytes: Uint8Array, width: number): Numbers {
  const aligned = bytes.byteOffset % width === 0 ? bytes : new Uint8Array(bytes);
  return new numbers(aligned.buffer, aligned.byteOffset, aligned.byteLength / width);
}

function readBooleans(column: RawColumn): arrow.Data {
  const { rowCount, validity } = column;
  const bytes = column.data(1);
  const bits = new Uint8Array(Math.ceil(rowCount / 8));
  for (let row = 0; row < rowCount; row++) {
    if (bytes[row] === 1 && isValid(validity, row)) bits[row >> 3] = (bits[row >> 3] as number) | (1 << (row & 7));
  }
  return makeFixed(new arrow.Bool(), column, bits);
}

/** DuckDB stores decimals in 2 to 16 bytes, Arrow always in 16, so the sign must be extended. */
function decimal(precision: number, scale: number): ArrowColumn {
  const type = new arrow.Decimal(scale, precision, 128);
  const width = precision <= 4 ? 2 : precision <= 9 ? 4 : precision <= 18 ? 8 : 16;
  const numbers = width === 2 ? Int16Array : Int32Array;
  const wordsEach = width <= 4 ? 1 : width / 4;
  const read = (column: RawColumn) => {
    const narrow = toNumbers(numbers, clearNulls(column, width), Math.min(width, 4)) as Int16Array | Int32Array;
    const wide = new Int32Array(column.rowCount * 4);
    for (let row = 0; row < column.rowCount; row++) {
      let word = 0;
      for (let i = 0; i < 4; i++) {
        word = i < wordsEach ? (narrow[row * wordsEach + i] as number) : word >> 31;
        wide[row * 4 + i] = word;
      }
    }
    return makeFixed(type, column, new Uint32Array(wide.buffer));
  };
  return { type, select: asIs, read };
}

function text(type: arrow.DataType, select: (sql: string) => string): ArrowColumn {
  const read = (column: RawColumn) => {
    const { bytes, offsets } = copyText(column);
    return new arrow.Data(type, 0, column.rowCount, countNulls(column), buffersOf(column, bytes, offsets));
  };
  return { type, select, read };
}
