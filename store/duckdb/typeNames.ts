import * as duckdb from '@duckdb/node-api';

/** Parses DuckDB's name of a type, for places that store only the name (the catalog, a `Relation`). */
export function parseTypeName(name: string): duckdb.DuckDBType {
  const reader = new TypeReader(name);
  const type = reader.readType();
  reader.expectEnd();
  return type;
}

const simpleTypes: Record<string, duckdb.DuckDBType> = {
  BOOLEAN: duckdb.BOOLEAN,
  TINYINT: duckdb.TINYINT,
  SMALLINT: duckdb.SMALLINT,
  INTEGER: duckdb.INTEGER,
  BIGINT: duckdb.BIGINT,
  HUGEINT: duckdb.HUGEINT,
  UTINYINT: duckdb.UTINYINT,
  USMALLINT: duckdb.USMALLINT,
  UINTEGER: duckdb.UINTEGER,
  UBIGINT: duckdb.UBIGINT,
  UHUGEINT: duckdb.UHUGEINT,
  FLOAT: duckdb.FLOAT,
  DOUBLE: duckdb.DOUBLE,
  DATE: duckdb.DATE,
  TIME: duckdb.TIME,
  TIME_NS: duckdb.TIME_NS,
  'TIME WITH TIME ZONE': duckdb.TIMETZ,
  TIMESTAMP: duckdb.TIMESTAMP,
  TIMESTAMP_S: duckdb.TIMESTAMP_S,
  TIMESTAMP_MS: duckdb.TIMESTAMP_MS,
  TIMESTAMP_NS: duckdb.TIMESTAMP_NS,
  'TIMESTAMP WITH TIME ZONE': duckdb.TIMESTAMPTZ,
  INTERVAL: duckdb.INTERVAL,
  VARCHAR: duckdb.VARCHAR,
  JSON: duckdb.DuckDBVarCharType.create('JSON'),
  BLOB: duckdb.BLOB,
  BIT: duckdb.BIT,
  UUID: duckdb.UUID,
  BIGNUM: duckdb.BIGNUM,
  '"NULL"': duckdb.SQLNULL,
  NULL: duckdb.SQLNULL,
};

/** Types whose values are shown as text only; what is in their parentheses does not matter. */
const opaqueTypes = new Set(['ENUM', 'UNION', 'GEOMETRY', 'VARIANT']);

class TypeReader {
  private at = 0;

  constructor(private readonly text: string) {}

  readType(): duckdb.DuckDBType {
    let type = this.readBase();
    for (let suffix = this.take(/\[(\d*)\]/y); suffix !== null; suffix = this.take(/\[(\d*)\]/y)) {
      type = suffix[1] ? duckdb.ARRAY(type, Number(suffix[1])) : duckdb.LIST(type);
    }
    return type;
  }

  expectEnd(): void {
    if (this.at !== this.text.length) this.fail();
  }

  private readBase(): duckdb.DuckDBType {
    const word = this.take(/"NULL"|TIME(?:STAMP)? WITH TIME ZONE|[A-Za-z_]+/y)?.[0].toUpperCase() ?? this.fail();
    if (word === 'DECIMAL') return this.readDecimal();
    if (word === 'STRUCT') return this.readStruct();
    if (word === 'MAP') return this.readMap();
    if (opaqueTypes.has(word)) {
      if (this.take(/\(/y)) this.skipParentheses();
      return duckdb.VARIANT;
    }
    return simpleTypes[word] ?? this.fail();
  }

  private readDecimal(): duckdb.DuckDBType {
    const size = this.take(/\((\d+)\s*,\s*(\d+)\)/y);
    return size ? duckdb.DECIMAL(Number(size[1]), Number(size[2])) : duckdb.DECIMAL(18, 3);
  }

  private readStruct(): duckdb.DuckDBType {
    const names: string[] = [];
    const types: duckdb.DuckDBType[] = [];
    this.expect(/\(\s*/y);
    do {
      const name = this.take(/"((?:[^"]|"")*)"\s+|([^\s"(),]+)\s+/y);
      names.push(name?.[2] ?? name?.[1]?.replaceAll('""', '"') ?? '');
      types.push(this.readType());
    } while (this.take(/\s*,\s*/y));
    this.expect(/\s*\)/y);
    return new duckdb.DuckDBStructType(names, types);
  }

  private readMap(): duckdb.DuckDBType {
    this.expect(/\(\s*/y);
    const key = this.readType();
    this.expect(/\s*,\s*/y);
    const value = this.readType();
    this.expect(/\s*\)/y);
    return duckdb.MAP(key, value);
  }

  private skipParentheses(): void {
    for (let depth = 1; depth > 0; ) {
      const part = this.expect(/'(?:[^']|'')*'|"(?:[^"]|"")*"|[()]|[^'"()]+/y)[0];
      if (part === '(') depth += 1;
      else if (part === ')') depth -= 1;
    }
  }

  private expect(pattern: RegExp): RegExpExecArray {
    return this.take(pattern) ?? this.fail();
  }

  private take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match) this.at = pattern.lastIndex;
    return match;
  }

  private fail(): never {
    throw new Error(`not a DuckDB type that is known here: ${this.text} (at ${this.at})`);
  }
}
