import { type ColumnType, formatColumnType } from '../../core/cells/columnTypes.ts';
import { sureDigits } from '../../core/cells/jsonReader.ts';
import { deepestJson } from '../../core/cells/jsonText.ts';
import { cellText } from './cellText.ts';
import { jsonExpression } from './json.ts';

/**
 * SQL that casts a value from one column type to another, and SQL that tells whether something would be lost. A plain cast
 * would round 1.5 to 2 and drop the time from a timestamp.
 */
export interface CleanCast {
  /** The value in the new type; NULL where it cannot be cast. */
  value: string;
  /** True for a value that is there and cannot be cast cleanly. */
  unclean: string;
}

const numeric = new Set<ColumnType['kind']>(['BIGINT', 'DOUBLE', 'DECIMAL']);

const timely = new Set<ColumnType['kind']>(['DATE', 'TIMESTAMP', 'TIME']);

export function cleanCast(sql: string, from: ColumnType, to: ColumnType): CleanCast {
  const target = formatColumnType(to);
  if (from.kind === 'VARCHAR') return castText(sql, to);
  // Times become the same text that rows show.
  const text = timely.has(from.kind) ? jsonExpression(sql, from.kind) : cellText(sql, formatColumnType(from));
  if (to.kind === 'VARCHAR') return always(text);
  // Via text, so that a decimal keeps its digits.
  if (to.kind === 'JSON') return always(numeric.has(from.kind) || from.kind === 'BOOLEAN' ? `CAST(${text} AS JSON)` : `to_json(${text})`);
  if (numeric.has(to.kind)) {
    if (from.kind === 'BOOLEAN') return checked(sql, `TRY_CAST(${sql} AS ${target})`);
    // Via text, because a direct cast would add digits that the double does not have.
    if (from.kind === 'DOUBLE' && to.kind === 'DECIMAL') return roundTrip(sql, from, target, `CAST(${sql} AS VARCHAR)`);
    if (numeric.has(from.kind)) return roundTrip(sql, from, target);
  }
  if (from.kind === 'DATE' && to.kind === 'TIMESTAMP') return always(`CAST(${sql} AS TIMESTAMP)`);
  if (from.kind === 'TIMESTAMP' && to.kind === 'DATE') return roundTrip(sql, from, target);
  return castText(`CAST(${sql} AS VARCHAR)`, to);
}

function always(value: string): CleanCast {
  return { value, unclean: 'false' };
}

function checked(sql: string, value: string, also = 'false'): CleanCast {
  return { value, unclean: `(${sql} IS NOT NULL AND (${value} IS NULL OR ${also}))` };
}

/** Clean if casting back gives the same value. */
function roundTrip(sql: string, from: ColumnType, target: string, read = sql): CleanCast {
  const value = `TRY_CAST(${read} AS ${target})`;
  return checked(sql, value, `TRY_CAST(${value} AS ${formatColumnType(from)}) IS DISTINCT FROM ${sql}`);
}

function castText(sql: string, to: ColumnType): CleanCast {
  const value = `TRY_CAST(${sql} AS ${formatColumnType(to)})`;
  const unlike = (pattern: string) => `NOT regexp_full_match(trim(${sql}), '${pattern}')`;
  const day = String.raw`\d{4}[-/]\d{1,2}[-/]\d{1,2}`;
  switch (to.kind) {
    case 'VARCHAR':
      return always(sql);
    case 'BIGINT':
      return checked(sql, value, unlike(String.raw`[+-]?\d+(\.0*)?`));
    case 'DOUBLE':
      return checked(
        sql,
        value,
        `${unlike(String.raw`[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?`)} OR NOT isfinite(${value}) OR ${losesDigits(sql, value)}`,
      );
    case 'DECIMAL': {
      // Zeros beyond the scale lose nothing; other digits would be rounded away.
      const fraction = to.scale === 0 ? '0*' : String.raw`\d{0,${to.scale}}0*`;
      return checked(sql, value, unlike(String.raw`[+-]?(\d+(\.${fraction})?|\.${fraction})`));
    }
    case 'DATE':
      return checked(sql, value, `${unlike(String.raw`${day}([T ]00:00(:00(\.0+)?)?Z?)?`)} OR ${beyondCalendar(value)}`);
    case 'TIME':
      return checked(sql, value, unlike(String.raw`([01]?\d|2[0-3]):\d{2}(:\d{2}(\.\d{1,6})?)?`));
    case 'TIMESTAMP': {
      // A timestamp with an offset is converted to UTC; a plain cast would drop the offset.
      const zoned = String.raw`regexp_matches(${sql}, ':\d{2}(\.\d+)?\s*([+-]\d{2}(:?\d{2})?)\s*$')`;
      const instant = `CASE WHEN ${zoned} THEN make_timestamp(epoch_us(TRY_CAST(${sql} AS TIMESTAMPTZ))) ELSE ${value} END`;
      const offset = String.raw`(Z|[+-]([01]\d|2[0-3])(:?[0-5]\d)?)`;
      const shape = String.raw`${day}([T ]\d{1,2}:\d{2}(:\d{2}(\.\d{1,6})?)?\s*${offset}?)?`;
      return checked(sql, instant, `${unlike(shape)} OR ${beyondCalendar(instant)}`);
    }
    case 'BOOLEAN':
      return checked(sql, value);
    case 'JSON':
      return castJson(sql);
  }
}

/**
 * Whether a double would lose digits of a number. It keeps up to fifteen. Longer texts are fine if they are the double's
 * shortest form or its form with seventeen digits, which many programs write.
 */
function losesDigits(text: string, double: string): string {
  const digits = (sql: string) => `trim(regexp_replace(regexp_replace(${sql}, '[eE].*', ''), '[^0-9]', '', 'g'), '0')`;
  const written = [`CAST(${double} AS VARCHAR)`, `format('{:.17g}', ${double})`].map(digits);
  return `(length(${digits(text)}) > ${sureDigits} AND ${digits(text)} NOT IN (${written.join(', ')}))`;
}

/** Years that cells cannot hold. */
function beyondCalendar(sql: string): string {
  return `year(${sql}) NOT BETWEEN 1 AND 9999`;
}

/** Without blanks, as rows show it. Refuses NaN, Infinity and trailing commas, which DuckDB accepts but JSON does not. */
function castJson(sql: string): CleanCast {
  const value = `CASE WHEN json_valid(${sql}) THEN json(${sql}) END`;
  const outside = String.raw`regexp_replace(${sql}, '"(?:[^"\\]|\\.)*"', '""', 'g')`;
  const lenient = String.raw`regexp_matches(${outside}, '(?i:nan|inf)|,\s*[\]}]')`;
  const nul = String.raw`regexp_matches(${sql}, '(?:^|[^\\])(?:\\\\)*\\u0000')`;
  return checked(sql, value, `${lenient} OR ${nul} OR ${isDeep(outside)}`);
}

/** Whether JSON without its texts is nested more deeply than cells may be. Two brackets for each level come before counting. */
function isDeep(outside: string): string {
  const brackets = `regexp_replace(${outside}, '[^][{}]', '', 'g')`;
  const steps = `list_transform(string_split(${brackets}, ''), c -> CASE WHEN c IN ('[', '{') THEN {'sum': 1, 'most': 1} ELSE {'sum': -1, 'most': 0} END)`;
  const total = `list_reduce(${steps}, (a, b) -> {'sum': a.sum + b.sum, 'most': greatest(a.most, a.sum + b.most)})`;
  return `CASE WHEN length(${brackets}) > ${2 * deepestJson} THEN (${total}).most > ${deepestJson} ELSE false END`;
}
