import {
  type DuckDBArrayType,
  type DuckDBListType,
  type DuckDBMapType,
  type DuckDBStructType,
  type DuckDBType,
  DuckDBTypeId as Id,
} from '@duckdb/node-api';
import { cellText } from './cellText.ts';
import { quoteName, quoteText } from './relation.ts';
import { parseTypeName } from './typeNames.ts';

/**
 * How values become JSON everywhere in the API, as SQL, so that DuckDB writes the text.
 *
 * - Whole numbers outside ±(2^53−1) and DECIMAL are strings with every digit; NaN and infinities are null.
 * - DATE `YYYY-MM-DD`; TIMESTAMP `YYYY-MM-DDTHH:MM:SS[.ffffff]`; TIMESTAMPTZ the same in UTC with `Z`; TIME
 *   `HH:MM:SS[.ffffff]`. Years before 1 are ISO 8601's (`0000` is 1 BC, `-0043` is 44 BC); DuckDB reads them back.
 * - JSON is embedded; LIST, ARRAY, STRUCT and MAP are nested by the same rules; BLOB is base64; all else is its text.
 */

/** A type of DuckDB's API, or its name. */
export type TypeLike = DuckDBType | string;

export interface JsonColumn {
  /** The key in the JSON object. */
  name: string;
  type: TypeLike;
  /** SQL for the value; the quoted name by default. */
  sql?: string;
}

/** SQL for one value, as an argument for `json_object`, `json_array` or `to_json`. */
export function jsonExpression(columnSql: string, type: TypeLike): string {
  return writeValue(columnSql, typeof type === 'string' ? parseTypeName(type) : type, 0);
}

/** SQL for a whole row as the text of one JSON object (of type JSON, never NULL). Keys keep the order of the columns. */
export function rowJson(columns: JsonColumn[]): string {
  return jsonObject(columns.map(({ name, type, sql }) => [name, jsonExpression(sql ?? quoteName(name), type)]));
}

const largestExact = '9007199254740991';

/** `depth` makes the parameter names of nested lambdas unique. */
function writeValue(sql: string, type: DuckDBType, depth: number): string {
  switch (type.typeId) {
    case Id.BOOLEAN:
    case Id.TINYINT:
    case Id.SMALLINT:
    case Id.INTEGER:
    case Id.UTINYINT:
    case Id.USMALLINT:
    case Id.UINTEGER:
    case Id.SQLNULL:
      return sql;
    case Id.VARCHAR:
      return type.alias === 'JSON' ? writeJson(sql) : sql;
    case Id.BIGINT:
    case Id.HUGEINT:
      return `CASE WHEN ${sql} BETWEEN -${largestExact} AND ${largestExact} THEN to_json(${sql}) ELSE to_json(CAST(${sql} AS VARCHAR)) END`;
    case Id.UBIGINT:
    case Id.UHUGEINT:
      return `CASE WHEN ${sql} <= ${largestExact} THEN to_json(${sql}) ELSE to_json(CAST(${sql} AS VARCHAR)) END`;
    case Id.FLOAT:
    case Id.DOUBLE:
      return `CASE WHEN isfinite(${sql}) THEN ${sql} END`;
    case Id.LIST:
    case Id.ARRAY:
      return writeList(sql, type, depth);
    case Id.STRUCT:
      return writeStruct(sql, type, depth);
    case Id.MAP:
      return writeMap(sql, type, depth);
    default:
      return textExpression(sql, type);
  }
}

/** SQL for a value's text, as used in JSON strings and for types that Arrow does not have. */
export function textExpression(sql: string, type: DuckDBType): string {
  switch (type.typeId) {
    case Id.DATE:
      return `CASE WHEN ${sql} >= DATE '0001-01-01' OR NOT isfinite(${sql}) THEN CAST(${sql} AS VARCHAR) ELSE ${earlyDay(sql)} END`;
    case Id.TIMESTAMP:
      return writeTimestamp(sql);
    case Id.TIMESTAMP_S:
    case Id.TIMESTAMP_MS:
      return writeTimestamp(`CAST(${sql} AS TIMESTAMP)`);
    case Id.TIMESTAMP_NS:
      return `CASE WHEN epoch_ns(${sql}) % 1000000000 = 0 THEN strftime(${sql}, '%Y-%m-%dT%H:%M:%S') ELSE strftime(${sql}, '%Y-%m-%dT%H:%M:%S.%n') END`;
    case Id.TIMESTAMP_TZ:
      // Via microseconds since 1970, because a plain cast would use the time zone of the session.
      return `CASE WHEN isfinite(${sql}) THEN ${writeTimestamp(`make_timestamp(epoch_us(${sql}))`)} || 'Z' ELSE CAST(${sql} AS VARCHAR) END`;
    case Id.TIME:
      return padFraction(sql, 6);
    case Id.TIME_NS:
      return padFraction(sql, 9);
    case Id.DECIMAL:
      return cellText(sql, String(type));
    case Id.BLOB:
      return `to_base64(${sql})`;
    default:
      return `CAST(${sql} AS VARCHAR)`;
  }
}

/** The fraction has six digits or is left out, because many parsers accept only these two forms. */
function writeTimestamp(sql: string): string {
  const day = `CASE WHEN ${sql} < TIMESTAMP '0001-01-01' AND isfinite(${sql}) THEN ${earlyDay(sql)} || strftime(${sql}, 'T%H:%M:%S')`;
  const fraction = `CASE WHEN microsecond(${sql}) % 1000000 <> 0 THEN strftime(${sql}, '.%f') ELSE '' END`;
  return `${day} || ${fraction} WHEN microsecond(${sql}) % 1000000 = 0 THEN strftime(${sql}, '%Y-%m-%dT%H:%M:%S') ELSE strftime(${sql}, '%Y-%m-%dT%H:%M:%S.%f') END`;
}

/** The day of a date or time before year 1: `%Y` would give `-43` for 44 BC. */
function earlyDay(sql: string): string {
  return `CASE WHEN year(${sql}) < 0 THEN '-' ELSE '' END || format('{:04d}', abs(year(${sql}))) || strftime(${sql}, '-%m-%d')`;
}

function padFraction(sql: string, digits: number): string {
  const text = `CAST(${sql} AS VARCHAR)`;
  return `CASE WHEN strlen(${text}) = 8 THEN ${text} ELSE rpad(${text}, ${9 + digits}, '0') END`;
}

/** DuckDB accepts NaN and Infinity in JSON; outside of strings they become null. */
function writeJson(sql: string): string {
  const token = '[-+]?(?i:nan|inf(?:inity)?)';
  const pieces = String.raw`"(?:[^"\\]|\\.)*"|[^"]+`;
  const cleaned = `CASE WHEN starts_with(piece, '"') THEN piece ELSE regexp_replace(piece, '${token}', 'null', 'g') END`;
  const joined = `array_to_string(list_transform(regexp_extract_all(CAST(${sql} AS VARCHAR), '${pieces}'), lambda piece: ${cleaned}), '')`;
  return `CASE WHEN regexp_matches(CAST(${sql} AS VARCHAR), '(?i:nan|inf)') THEN CAST(${joined} AS JSON) ELSE ${sql} END`;
}

function writeList(sql: string, type: DuckDBListType | DuckDBArrayType, depth: number): string {
  const item = `item${depth}`;
  const written = writeValue(item, type.valueType, depth + 1);
  return written === item ? sql : `list_transform(${sql}, lambda ${item}: ${written})`;
}

/** Entries are read by position, because names can be anything. A `row(…)` has no names and becomes an array. */
function writeStruct(sql: string, type: DuckDBStructType, depth: number): string {
  const values = type.entryTypes.map((entry, i) => writeValue(`struct_extract_at(${sql}, ${i + 1})`, entry, depth));
  const named = type.entryNames.every((name) => name !== '');
  const object = named ? jsonObject(type.entryNames.map((name, i) => [name, values[i] ?? 'NULL'])) : `json_array(${values.join(', ')})`;
  return `CASE WHEN ${sql} IS NOT NULL THEN ${object} END`;
}

function writeMap(sql: string, type: DuckDBMapType, depth: number): string {
  const [key, value] = [`key${depth}`, `value${depth}`];
  const keys = `list_transform(map_keys(${sql}), lambda ${key}: ${textExpression(key, type.keyType)})`;
  const values = `list_transform(map_values(${sql}), lambda ${value}: ${writeValue(value, type.valueType, depth + 1)})`;
  return `map(${keys}, ${values})`;
}

function jsonObject(entries: [name: string, sql: string][]): string {
  return `json_object(${entries.map(([name, sql]) => `${quoteText(name)}, ${sql}`).join(', ')})`;
}
