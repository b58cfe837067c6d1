import type { ColumnType } from '../../core/cells/columnTypes.ts';

/**
 * SQL that casts a value from one column type to another, and SQL that says whether the cast is clean: no digit, no time
 * of day and no meaning is lost. The engine alone would round 1.5 to 2 and cut the time off a date.
 */
export interface CleanCast {
  /** The value in the new type; NULL where it cannot be cast. */
  value: string;
  /** True for a value that is there and cannot be cast cleanly. */
  unclean: string;
}

const numeric = new Set<ColumnType['kind']>(['BIGINT', 'DOUBLE', 'DECIMAL']);

export function cleanCast(sql: string, from: ColumnType, to: ColumnType): CleanCast {
  const target = typeSql(to);
  if (from.kind === 'VARCHAR') return castText(sql, to);
  if (to.kind === 'VARCHAR') return always(`CAST(${sql} AS VARCHAR)`);
  if (to.kind === 'JSON') {
    const text = `CAST(${sql} AS VARCHAR)`;
    // By way of the text, so that a decimal keeps its digits.
    return always(numeric.has(from.kind) || from.kind === 'BOOLEAN' ? `CAST(${text} AS JSON)` : `to_json(${text})`);
  }
  if (numeric.has(to.kind)) {
    if (from.kind === 'BOOLEAN') return checked(sql, `TRY_CAST(${sql} AS ${target})`);
    if (numeric.has(from.kind)) return roundTrip(sql, from, target);
  }
  if (from.kind === 'DATE' && to.kind === 'TIMESTAMP') return always(`CAST(${sql} AS TIMESTAMP)`);
  if (from.kind === 'TIMESTAMP' && to.kind === 'DATE') return roundTrip(sql, from, target);
  return castText(`CAST(${sql} AS VARCHAR)`, to);
}

function typeSql(type: ColumnType): string {
  return type.kind === 'DECIMAL' ? `DECIMAL(${type.precision},${type.scale})` : type.kind;
}

function always(value: string): CleanCast {
  return { value, unclean: 'false' };
}

function checked(sql: string, value: string, also = 'false'): CleanCast {
  return { value, unclean: `(${sql} IS NOT NULL AND (${value} IS NULL OR ${also}))` };
}

/** Clean when the way back gives the same value. */
function roundTrip(sql: string, from: ColumnType, target: string): CleanCast {
  const value = `TRY_CAST(${sql} AS ${target})`;
  return checked(sql, value, `TRY_CAST(${value} AS ${typeSql(from)}) IS DISTINCT FROM ${sql}`);
}

function castText(sql: string, to: ColumnType): CleanCast {
  const value = `TRY_CAST(${sql} AS ${typeSql(to)})`;
  const unlike = (pattern: string) => `NOT regexp_full_match(trim(${sql}), '${pattern}')`;
  const day = String.raw`\d{4}[-/]\d{1,2}[-/]\d{1,2}`;
  switch (to.kind) {
    case 'VARCHAR':
      return always(sql);
    case 'BIGINT':
      return checked(sql, value, unlike(String.raw`[+-]?\d+(\.0*)?`));
    case 'DOUBLE':
      // What is too large becomes infinite, which is another value.
      return checked(sql, value, `${unlike(String.raw`[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?`)} OR isinf(${value})`);
    case 'DECIMAL': {
      // Zeros beyond the scale lose nothing; other digits would be rounded away.
      const fraction = to.scale === 0 ? '0*' : String.raw`\d{0,${to.scale}}0*`;
      return checked(sql, value, unlike(String.raw`[+-]?(\d+(\.${fraction})?|\.${fraction})`));
    }
    case 'DATE':
      return checked(sql, value, unlike(String.raw`${day}([T ]00:00(:00(\.0+)?)?Z?)?`));
    case 'TIME':
      return checked(sql, value, unlike(String.raw`\d{1,2}:\d{2}(:\d{2}(\.\d{1,6})?)?`));
    case 'TIMESTAMP': {
      // With an offset it is an instant, kept in UTC as everywhere; a plain cast would drop the offset.
      const zoned = String.raw`regexp_matches(${sql}, ':\d{2}(\.\d+)?\s*([+-]\d{2}(:?\d{2})?)\s*$')`;
      const instant = `CASE WHEN ${zoned} THEN make_timestamp(epoch_us(TRY_CAST(${sql} AS TIMESTAMPTZ))) ELSE ${value} END`;
      return checked(sql, instant, unlike(String.raw`${day}([T ]\d{1,2}:\d{2}(:\d{2}(\.\d{1,6})?)?\s*(Z|[+-]\d{2}(:?\d{2})?)?)?`));
    }
    case 'BOOLEAN':
      return checked(sql, value);
    case 'JSON':
      return checked(sql, value, `NOT json_valid(${sql}) OR regexp_matches(${sql}, '^\\s*[-+]?(?i:nan|inf(?:inity)?)\\s*$')`);
  }
}
