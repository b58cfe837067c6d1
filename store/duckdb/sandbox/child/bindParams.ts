import {
  BIGINT,
  BOOLEAN,
  DOUBLE,
  type DuckDBPreparedStatement,
  type DuckDBType,
  type DuckDBValue,
  INTEGER,
  LIST,
  listValue,
  VARCHAR,
} from '@duckdb/node-api';
import type { Params, Scalar } from '../protocol.ts';

/** Binds JSON values, each with the narrowest type that holds it, like a literal. */
export function bindParams(statement: DuckDBPreparedStatement, params: Params): void {
  for (let index = 1; index <= statement.parameterCount; index += 1) {
    const value = findParam(params, statement.parameterName(index));
    if (value === undefined || value === null) statement.bindNull(index);
    else if (Array.isArray(value)) bindList(statement, index, value);
    else bindScalar(statement, index, value);
  }
}

function findParam(params: Params, name: string): Scalar | Scalar[] | undefined {
  if (Object.hasOwn(params, name)) return params[name];
  const folded = name.toLowerCase();
  return Object.entries(params).find(([key]) => key.toLowerCase() === folded)?.[1];
}

function bindScalar(statement: DuckDBPreparedStatement, index: number, value: Exclude<Scalar, null>): void {
  const type = typeOf(value);
  statement.bindValue(index, convert(value, type), type);
}

function bindList(statement: DuckDBPreparedStatement, index: number, values: Scalar[]): void {
  const type = commonType(values.filter((value) => value !== null).map(typeOf));
  statement.bindValue(index, listValue(values.map((value) => (value === null ? null : convert(value, type)))), LIST(type));
}

function typeOf(value: Exclude<Scalar, null>): DuckDBType {
  if (typeof value === 'boolean') return BOOLEAN;
  if (typeof value === 'string') return VARCHAR;
  if (!Number.isSafeInteger(value)) return DOUBLE;
  return Math.abs(value) < 2 ** 31 ? INTEGER : BIGINT;
}

/** The widest numeric type; text for mixed kinds. */
function commonType(types: DuckDBType[]): DuckDBType {
  if (types.length === 0) return VARCHAR;
  const widest = [BOOLEAN, INTEGER, BIGINT, DOUBLE] as DuckDBType[];
  if (types.some((type) => type === VARCHAR) || (types.includes(BOOLEAN) && types.some((type) => type !== BOOLEAN))) return VARCHAR;
  return widest[Math.max(...types.map((type) => widest.indexOf(type)))] ?? VARCHAR;
}

function convert(value: Exclude<Scalar, null>, type: DuckDBType): DuckDBValue {
  if (type === VARCHAR) return String(value);
  return type === BIGINT ? BigInt(value) : value;
}
