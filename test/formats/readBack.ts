import type { Readable } from 'node:stream';
import { type DuckDBConnection, type DuckDBType, DuckDBTypeId as Id } from '@duckdb/node-api';
import * as arrow from 'apache-arrow';
import { expect } from 'vitest';
import { describeQuery, type QueryParams } from '../../store/duckdb/formats/describeQuery.ts';
import { type RowFormat, streamRows } from '../../store/duckdb/formats/streamRows.ts';

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonRow = Record<string, JsonValue>;

export async function collect(body: Readable): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of body) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

/** The rows of a query in one format, read back by a reader that is not ours, as JSON values. */
export async function readRows(connection: DuckDBConnection, sql: string, format: RowFormat, params?: QueryParams): Promise<JsonRow[]> {
  if (format === 'csv') return readCsv(connection, sql, params);
  const bytes = await collect(streamRows(connection, sql, params, format));
  if (format === 'json') return JSON.parse(bytes.toString('utf8'));
  if (format === 'ndjson') return parseLines(bytes);
  const types = (await describeQuery(connection, sql.replace(/[\s;]+$/, ''), params)).map(({ type }) => type);
  return readArrow(bytes, types);
}

/** A single column is read beside another, as a null that is all of a line cannot be told from an empty text. */
async function readCsv(connection: DuckDBConnection, sql: string, params?: QueryParams): Promise<JsonRow[]> {
  const select = sql.replace(/[\s;]+$/, '');
  const columns = await describeQuery(connection, select, params);
  const beside = columns.length === 1 ? `SELECT *, 1 AS svc_last FROM (${select}\n)` : select;
  const bytes = await collect(streamRows(connection, beside, params, 'csv'));
  const [header, ...lines] = parseCsv(bytes.toString('utf8'));
  expect(header?.slice(0, columns.length)).toEqual(columns.map(({ name }) => name));
  return lines.map((cells) => Object.fromEntries(columns.map(({ name, type }, i) => [name, readCell(cells[i] ?? null, type)])));
}

/** Cells as texts; null where nothing is between the commas. */
export function parseCsv(text: string): (string | null)[][] {
  const rows: (string | null)[][] = [];
  let row: (string | null)[] = [];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\n)/g)) {
    row.push(quoted?.replaceAll('""', '"') ?? (plain === '' ? null : (plain ?? null)));
    if (end !== '\n') continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

const whole = [Id.TINYINT, Id.SMALLINT, Id.INTEGER, Id.BIGINT, Id.HUGEINT, Id.UTINYINT, Id.USMALLINT, Id.UINTEGER, Id.UBIGINT, Id.UHUGEINT];

function readCell(text: string | null, type: DuckDBType): JsonValue {
  if (text === null) return null;
  if (whole.includes(type.typeId)) return exact(BigInt(text));
  if (type.typeId === Id.FLOAT || type.typeId === Id.DOUBLE) return Number(text);
  if (type.typeId === Id.BOOLEAN) return text === 'true';
  return isJsonType(type) ? JSON.parse(text) : text;
}

const isJsonType = (type: DuckDBType) => [Id.LIST, Id.ARRAY, Id.STRUCT, Id.MAP].includes(type.typeId) || type.alias === 'JSON';

function parseLines(bytes: Buffer): JsonRow[] {
  const lines = bytes.toString('utf8').split('\n');
  if (lines.pop() !== '') throw new Error('the last line has no end');
  return lines.map((line) => JSON.parse(line));
}

function readArrow(bytes: Buffer, types: DuckDBType[]): JsonRow[] {
  const table = arrow.tableFromIPC(bytes);
  const rows = Array.from({ length: table.numRows }, (): JsonRow => ({}));
  for (const [i, field] of table.schema.fields.entries()) {
    let row = 0;
    for (const data of table.getChildAt(i)?.data ?? []) {
      for (let at = 0; at < data.length; at++, row++) {
        const value = data.getValid(at) ? readValue(data, at, types[i] as DuckDBType) : null;
        (rows[row] as JsonRow)[field.name] = value;
      }
    }
  }
  return rows;
}

/** From Arrow's raw values, so that no getter's rounding comes between. */
function readValue(data: arrow.Data, at: number, type: DuckDBType): JsonValue {
  const raw = data.values[at] as number | bigint;
  switch (data.type.typeId) {
    case arrow.Type.Bool:
      return ((data.values[at >> 3] >> (at & 7)) & 1) === 1;
    case arrow.Type.Int:
      return exact(BigInt(raw));
    case arrow.Type.Float:
      return Number.isFinite(raw as number) ? (raw as number) : null;
    case arrow.Type.Decimal: {
      const digits = readInt128(data, at);
      return type.typeId === Id.DECIMAL ? showDecimal(digits, type.scale) : exact(digits);
    }
    case arrow.Type.Date:
      return showDays(raw as number);
    case arrow.Type.Timestamp:
      return showTimestamp(raw as bigint, data.type as arrow.Timestamp);
    case arrow.Type.Time:
      return showTime(raw as bigint, (data.type as arrow.Time).unit);
    case arrow.Type.Binary:
      return textBytes(data, at).toString('base64');
    case arrow.Type.Utf8: {
      const text = textBytes(data, at).toString('utf8');
      return isJsonType(type) ? JSON.parse(text) : type.typeId === Id.UHUGEINT ? exact(BigInt(text)) : text;
    }
    default:
      throw new Error(`unexpected type ${data.type}`);
  }
}

function exact(value: bigint): JsonValue {
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

function textBytes(data: arrow.Data, at: number): Buffer {
  return Buffer.from(data.values.subarray(data.valueOffsets[at], data.valueOffsets[at + 1]));
}

function readInt128(data: arrow.Data, at: number): bigint {
  const words = data.values.subarray(at * 4, at * 4 + 4) as Uint32Array;
  return BigInt.asIntN(
    128,
    words.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n),
  );
}

function showDecimal(digits: bigint, scale: number): string {
  const text = String(digits < 0n ? -digits : digits).padStart(scale + 1, '0');
  const shown = scale === 0 ? text : `${text.slice(0, -scale)}.${text.slice(-scale)}`;
  return digits < 0n ? `-${shown}` : shown;
}

function showDays(days: number): string {
  if (days === 0x7fffffff) return 'infinity';
  if (days === -0x7fffffff) return '-infinity';
  // JavaScript's own calendar ends before the engine's: whole cycles of 400 years are taken off first.
  const cycles = Math.floor(days / 146097);
  const date = new Date((days - cycles * 146097) * 86_400_000);
  const year = date.getUTCFullYear() + cycles * 400;
  const shown = String(Math.abs(year)).padStart(4, '0');
  return `${year < 0 ? '-' : ''}${shown}-${two(date.getUTCMonth() + 1)}-${two(date.getUTCDate())}`;
}

const units = {
  [arrow.TimeUnit.SECOND]: 1n,
  [arrow.TimeUnit.MILLISECOND]: 1000n,
  [arrow.TimeUnit.MICROSECOND]: 1_000_000n,
  [arrow.TimeUnit.NANOSECOND]: 1_000_000_000n,
};

function showTimestamp(value: bigint, { unit, timezone }: arrow.Timestamp): string {
  if (value === 2n ** 63n - 1n) return 'infinity';
  if (value === -(2n ** 63n) + 1n) return '-infinity';
  const perDay = 86_400n * units[unit];
  const time = ((value % perDay) + perDay) % perDay;
  return `${showDays(Number((value - time) / perDay))}T${showTime(time, unit)}${timezone ? 'Z' : ''}`;
}

function showTime(value: bigint, unit: arrow.TimeUnit): string {
  const seconds = Number(value / units[unit]);
  const digits = unit === arrow.TimeUnit.NANOSECOND ? 9 : 6;
  const fraction = (value % units[unit]) * (10n ** BigInt(digits) / units[unit]);
  const shown = fraction === 0n ? '' : `.${String(fraction).padStart(digits, '0')}`;
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}${shown}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
