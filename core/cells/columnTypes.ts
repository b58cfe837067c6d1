/** The types a column may have, and the names people use for them. */
export type ColumnType =
  | { kind: 'VARCHAR' | 'BIGINT' | 'DOUBLE' | 'BOOLEAN' | 'DATE' | 'TIMESTAMP' | 'TIME' | 'JSON' }
  | { kind: 'DECIMAL'; precision: number; scale: number };

const synonyms: Record<string, Exclude<ColumnType['kind'], 'DECIMAL'>> = {
  VARCHAR: 'VARCHAR',
  TEXT: 'VARCHAR',
  STRING: 'VARCHAR',
  CHAR: 'VARCHAR',
  'CHARACTER VARYING': 'VARCHAR',
  BPCHAR: 'VARCHAR',
  NVARCHAR: 'VARCHAR',
  BIGINT: 'BIGINT',
  INTEGER: 'BIGINT',
  INT: 'BIGINT',
  SMALLINT: 'BIGINT',
  TINYINT: 'BIGINT',
  INT2: 'BIGINT',
  INT4: 'BIGINT',
  INT8: 'BIGINT',
  LONG: 'BIGINT',
  DOUBLE: 'DOUBLE',
  'DOUBLE PRECISION': 'DOUBLE',
  FLOAT: 'DOUBLE',
  FLOAT4: 'DOUBLE',
  FLOAT8: 'DOUBLE',
  REAL: 'DOUBLE',
  NUMBER: 'DOUBLE',
  BOOLEAN: 'BOOLEAN',
  BOOL: 'BOOLEAN',
  LOGICAL: 'BOOLEAN',
  DATE: 'DATE',
  TIMESTAMP: 'TIMESTAMP',
  DATETIME: 'TIMESTAMP',
  'TIMESTAMP WITHOUT TIME ZONE': 'TIMESTAMP',
  TIME: 'TIME',
  'TIME WITHOUT TIME ZONE': 'TIME',
  JSON: 'JSON',
  JSONB: 'JSON',
};

export const typeNames = ['VARCHAR', 'BIGINT', 'DOUBLE', 'DECIMAL(p,s)', 'BOOLEAN', 'DATE', 'TIMESTAMP', 'TIME', 'JSON'];

/** The type behind a name, or null when it is not on the list. `NUMERIC` alone is DECIMAL(18,3), as the engine has it. */
export function parseColumnType(text: string): ColumnType | null {
  const before = parsed.get(text);
  if (before !== undefined) return before;
  const type = readColumnType(text);
  if (parsed.size < mostParsed) parsed.set(text, type);
  return type;
}

/** A cache: there are few type names, and every edit parses them. */
const parsed = new Map<string, ColumnType | null>();
const mostParsed = 1000;

function readColumnType(text: string): ColumnType | null {
  const name = text.trim().toUpperCase().replace(/\s+/g, ' ');
  const plain = synonyms[name.replace(/^(VARCHAR|CHAR|TEXT|NVARCHAR|CHARACTER VARYING) ?\(\d+\)$/, '$1')];
  if (plain) return { kind: plain };
  const decimal = /^(?:DECIMAL|NUMERIC|DEC)(?: ?\( ?(\d{1,2})(?: ?, ?(\d{1,2}))? ?\))?$/.exec(name);
  if (!decimal) return null;
  const precision = decimal[1] === undefined ? 18 : Number(decimal[1]);
  const scale = decimal[2] === undefined ? (decimal[1] === undefined ? 3 : 0) : Number(decimal[2]);
  return precision >= 1 && precision <= 38 && scale <= precision ? { kind: 'DECIMAL', precision, scale } : null;
}

/** The one name under which a type is reported, stored and given to the engine. */
export function formatColumnType(type: ColumnType): string {
  return type.kind === 'DECIMAL' ? `DECIMAL(${type.precision},${type.scale})` : type.kind;
}
