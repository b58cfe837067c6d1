import type { RecordColumn } from '../../core/records/records.ts';
import { quoteText } from '../duckdb/relation.ts';
import { refuseType } from './recordFile.ts';

/** A column of a Parquet file, as the engine reads it. */
export interface ParquetColumn extends RecordColumn {
  /** Its name in our SQL. */
  inner: string;
  /** Its canonical text. */
  sql: string;
  /** Its texts may be long. */
  isLong: boolean;
}

/** Marks what our own SQL found wrong with a value. */
export const faultMark = 'svc-fault:';

const nested = /(\[\d*\]|^(STRUCT|MAP|UNION)\(.*\))$/;
const whole = /^(TINYINT|SMALLINT|INTEGER|BIGINT|UTINYINT|USMALLINT|UINTEGER)$/;

/** How a column of this type becomes a column of a table. Refuses types that tables do not have. */
export function describeParquetColumn(name: string, type: string, inner: string): ParquetColumn {
  const as = (own: string, sql = `CAST(${inner} AS VARCHAR)`, isLong = false): ParquetColumn => ({ name, type: own, inner, sql, isLong });
  const unless = (condition: string, what: string, sql: string) => {
    const fault = `${faultMark} Column ${JSON.stringify(name.slice(0, 100))} has a value that ${what}.`;
    // The message depends on the value, so that it is not made before there is one.
    return `CASE WHEN ${condition} THEN error(${quoteText(fault)} || left(CAST(${inner} AS VARCHAR), 0)) ELSE ${sql} END`;
  };
  const inYears = (sql: string) => unless(`year(${inner}) NOT BETWEEN 1 AND 9999`, 'is outside of the years 1 to 9999', sql);
  const noNanoseconds = (sql: string) =>
    unless(`epoch_ns(${inner}) % 1000 <> 0`, 'has nanoseconds, which columns do not hold; round it to microseconds', sql);
  const clean = (sql: string) => unless(`contains(${sql}, chr(0))`, 'contains U+0000, which text cannot hold', sql);
  if (nested.test(type)) {
    if (/\b(BLOB|INTERVAL|BIT|GEOMETRY|TIME_NS|TIME WITH TIME ZONE)\b/.test(type)) throw refuseType(name, type);
    return as('JSON', clean(`CAST(to_json(${inner}) AS VARCHAR)`), true);
  }
  if (whole.test(type)) return as('BIGINT');
  if (/^DECIMAL\(\d+,\d+\)$/.test(type)) return as(type);
  if (/^ENUM\(/.test(type)) return as('VARCHAR', `CAST(${inner} AS VARCHAR)`, true);
  switch (type) {
    case 'BOOLEAN':
    case 'TIME':
      return as(type);
    case 'UBIGINT':
      return as('DECIMAL(20,0)');
    case 'HUGEINT':
    case 'UHUGEINT':
      return as('DECIMAL(38,0)', unless(`abs(CAST(${inner} AS DOUBLE)) >= 1e38`, 'has more than 38 digits', `CAST(${inner} AS VARCHAR)`));
    case 'FLOAT':
    case 'DOUBLE':
      // NaN stands for a missing value, as in data frames.
      return as('DOUBLE', `CAST(CASE WHEN isnan(${inner}) THEN NULL ELSE CAST(${inner} AS DOUBLE) END AS VARCHAR)`);
    case 'VARCHAR':
      return as('VARCHAR', clean(inner), true);
    case 'JSON':
      return as('JSON', clean(`CAST(${inner} AS VARCHAR)`), true);
    case 'UUID':
      return as('VARCHAR');
    case 'DATE':
      return as('DATE', inYears(`strftime(${inner}, '%Y-%m-%d')`));
    case 'TIMESTAMP':
    case 'TIMESTAMP_S':
    case 'TIMESTAMP_MS':
      return as('TIMESTAMP', inYears(`CAST(CAST(${inner} AS TIMESTAMP) AS VARCHAR)`));
    case 'TIMESTAMP_NS':
      return as('TIMESTAMP', noNanoseconds(`CAST(CAST(${inner} AS TIMESTAMP) AS VARCHAR)`));
    case 'TIMESTAMP WITH TIME ZONE':
      return as('TIMESTAMP', inYears(`CAST(${inner} AT TIME ZONE 'UTC' AS VARCHAR)`));
    default:
      throw refuseType(name, type);
  }
}
