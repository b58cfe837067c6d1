import { type DuckDBType, DuckDBTypeId as Id } from '@duckdb/node-api';
import { quoteName, quoteText } from '../relation.ts';
import { parseTypeName } from '../typeNames.ts';
import type { ResultColumn } from './protocol.ts';

/**
 * Types of results. What a column is reported as is what JSON, NDJSON and Arrow show; what a Parquet file cannot hold
 * exactly lies in it as text and is cast back on reading.
 */

/** The name of the type that a result column gets; a few that only the engine understands become text or JSON. */
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

/** The same, where only the engine's name of the type is known. */
export function resultTypeOf(typeName: string): string {
  return /^(ENUM|UNION)\b/.test(typeName) ? 'VARCHAR' : resultTypeName(parseTypeName(typeName));
}

/** The type under which a column lies in the file. */
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

/** SQL for a column on its way into the file; `sql` is where its value lies. */
export function storeColumn({ name, type }: ResultColumn, sql: string): string {
  const stored = storedTypeName(parseTypeName(type));
  return `${stored === type ? sql : `CAST(${sql} AS ${stored})`} AS ${quoteName(name)}`;
}

/** A SELECT over a result file that gives the columns as they were. */
export function selectResult(path: string, columns: ResultColumn[]): string {
  const list = columns.map(({ name, type }) => `CAST(${quoteName(name)} AS ${type}) AS ${quoteName(name)}`);
  return `SELECT ${list.join(', ')} FROM read_parquet(${quoteText(path)})`;
}

function mapNested(type: DuckDBType, map: (inner: DuckDBType) => string): string | null {
  switch (type.typeId) {
    case Id.LIST:
      return `${map(type.valueType)}[]`;
    case Id.ARRAY:
      return `${map(type.valueType)}[${type.length}]`;
    case Id.MAP:
      return `MAP(${map(type.keyType)}, ${map(type.valueType)})`;
    case Id.STRUCT:
      // Those of `row(…)` have no names, and a table cannot hold them so.
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
