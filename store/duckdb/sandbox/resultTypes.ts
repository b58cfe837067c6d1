import { type DuckDBType, DuckDBTypeId as Id } from '@duckdb/node-api';
import { quoteName, quoteText } from '../relation.ts';
import { parseTypeName } from '../typeNames.ts';
import type { ResultColumn } from './protocol.ts';

/**
 * Types of results. The reported type of a column is what JSON, NDJSON and Arrow show. What Parquet cannot store exactly is
 * stored as text and cast back on reading.
 */

/** The reported type of a result column; a few types that only DuckDB knows become text or JSON. */
export function resultTypeName(type: DuckDBType): string {
  switch (type.typeId) {
    case Id.VARCHAR:
      return type.alias === 'JSON' ? 'JSON' : 'VARCHAR';
    case Id.ENUM:
    case Id.UNION:
      return 'VARCHAR';
    case Id.VARIANT:
      return 'JSON';
    case Id.SQLNULL:
      return 'INTEGER';
    case Id.DECIMAL:
      return `DECIMAL(${type.width},${type.scale})`;
    default:
      return mapNested(type, resultTypeName) ?? (isKnown(type) ? String(type) : 'VARCHAR');
  }
}

/** The same for DuckDB's name of a type. */
export function resultTypeOf(typeName: string): string {
  return /^(ENUM|UNION)\b/.test(typeName) ? 'VARCHAR' : resultTypeName(parseTypeName(typeName));
}

/** The type of a column in the file. */
function storedTypeName(type: DuckDBType): string {
  switch (type.typeId) {
    case Id.HUGEINT:
    case Id.UHUGEINT:
    case Id.BIGNUM:
    case Id.BIT:
    case Id.INTERVAL:
    case Id.TIME_TZ:
    case Id.TIME_NS:
      return 'VARCHAR';
    default:
      return mapNested(type, storedTypeName) ?? resultTypeName(type);
  }
}

/** SQL that turns a value (`sql`) into the column of the file. */
export function storeColumn({ name, type }: ResultColumn, sql: string): string {
  const stored = storedTypeName(parseTypeName(type));
  return `${stored === type ? sql : `CAST(${sql} AS ${stored})`} AS ${quoteName(name)}`;
}

/** A SELECT over a result file that restores the columns' types. */
export function selectResult(path: string, columns: ResultColumn[]): string {
  const list = columns.map(({ name, type }) => `CAST(${quoteName(name)} AS ${type}) AS ${quoteName(name)}`);
  return `SELECT ${list.join(', ')} FROM read_parquet(${quoteText(path)})`;
}

/** The same over a file of rows, objects of JSON on lines of their own. */
export function selectRows(path: string, columns: ResultColumn[]): string {
  const list = columns.map(
    ({ name, type }) => `CAST(json_extract_string(row, ${quoteText(jsonPath(name))}) AS ${type}) AS ${quoteName(name)}`,
  );
  const file = `read_json(${quoteText(path)}, format = 'newline_delimited', records = false, columns = {row: 'JSON'}, maximum_object_size = 67108864)`;
  return `SELECT ${list.join(', ')} FROM ${file}`;
}

const jsonPath = (name: string) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;

function mapNested(type: DuckDBType, map: (inner: DuckDBType) => string): string | null {
  switch (type.typeId) {
    case Id.LIST:
      return `${map(type.valueType)}[]`;
    case Id.ARRAY:
      return `${map(type.valueType)}[${type.length}]`;
    case Id.MAP:
      return `MAP(${map(type.keyType)}, ${map(type.valueType)})`;
    case Id.STRUCT:
      // Entries of `row(…)` have no names, but a table needs them.
      return `STRUCT(${type.entryTypes.map((entry, i) => `${quoteName(type.entryNames[i] || `v${i + 1}`)} ${map(entry)}`).join(', ')})`;
    default:
      return null;
  }
}

function isKnown(type: DuckDBType): boolean {
  try {
    parseTypeName(String(type));
    return type.typeId !== Id.GEOMETRY;
  } catch {
    return false;
  }
}
