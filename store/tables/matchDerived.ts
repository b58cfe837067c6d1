import { rowIdColumn, type TableAt } from '../../core/table/table.ts';
import type { DerivedColumn } from '../../core/transforms/outputColumns.ts';
import { innerName } from '../duckdb/buildRelation.ts';
import { quoteName, quoteText } from '../duckdb/relation.ts';

/** SQL that finds the rows of a result again in the version of the table before it. */

export interface Match {
  /** The rows of the result, with their place in `ord`. */
  rows: string;
  /** The version before. */
  from: string | null;
  before: TableAt | null;
  columns: DerivedColumn[];
  /** The columns by which rows are known: the key, or all. */
  known: DerivedColumn[];
}

/** The file of a result, with names by column id and the types of the table. */
export function readResult(path: string, columns: DerivedColumn[]): string {
  const values = columns.map((column) => `${convert(column)} AS ${innerName(column.id)}`);
  return `(SELECT ${values.join(', ')} FROM read_parquet(${quoteText(path)}))`;
}

/** The value of a table's column, from the column of the result's file. */
function convert({ resultName, resultType, type, conversion }: DerivedColumn): string {
  const stored = quoteName(resultName);
  const value = `CAST(${stored} AS ${resultType})`;
  switch (conversion) {
    case 'as-is':
      return value;
    case 'whole-number':
    case 'text':
      return `CAST(${value} AS ${type})`;
    case 'finite':
      return `CASE WHEN isfinite(${value}) THEN CAST(${value} AS ${type}) END`;
    case 'utc':
      return `CASE WHEN isfinite(${value}) THEN make_timestamp(epoch_us(${value})) END`;
    case 'json':
      return `CASE WHEN ${stored} IS NOT NULL THEN CAST(to_json(${value}) AS JSON) END`;
  }
}

/** The name of the column in the version before; null if it had none. */
export function findOldName({ id }: DerivedColumn, before: TableAt | null): string | null {
  const old = before?.columns.find((column) => column.id === id);
  return old ? quoteName(old.name) : null;
}

/** SQL for a number that tells rows apart by the values of some columns. */
function hashRow(alias: string, names: (string | null)[]): string {
  const list = names.map((name) => (name === null ? 'NULL' : `CAST(${alias}.${name} AS VARCHAR)`));
  return `md5_number(CAST(to_json([${list.join(', ')}]) AS VARCHAR))`;
}

export const hashNew = (alias: string, columns: DerivedColumn[]) =>
  hashRow(
    alias,
    columns.map(({ id }) => innerName(id)),
  );

export const hashOld = (alias: string, columns: DerivedColumn[], before: TableAt | null) =>
  hashRow(
    alias,
    columns.map((column) => findOldName(column, before)),
  );

/** By the values of the key, which no row of the result lacks or shares. */
export function matchKeys({ rows, from, before, columns, known }: Match): string {
  const pair = (column: DerivedColumn) => {
    const old = findOldName(column, before);
    return { value: `f.${innerName(column.id)}`, old: old === null ? null : `o.${old}`, isText: column.type === 'DOUBLE' };
  };
  const on = known.map(pair).map(({ value, old }) => `${value} = ${old}`);
  const same = columns.map(pair).map(({ value, old, isText }) =>
    // 0 and -0 are the same number with different texts.
    old === null
      ? `${value} IS NULL`
      : isText
        ? `CAST(${value} AS VARCHAR) IS NOT DISTINCT FROM CAST(${old} AS VARCHAR)`
        : `${value} IS NOT DISTINCT FROM ${old}`,
  );
  const oldId = `o.${rowIdColumn}`;
  return `SELECT f.ord, ${oldId} AS old_id, ${oldId} AS id, ${oldId} IS NOT NULL AND ${same.join(' AND ')} AS same
    FROM ${rows} f LEFT JOIN ${from} o ON ${on.join(' AND ')}`;
}

/** By hashes of the key, or of the content: the n-th of equal rows is the n-th again. */
export function matchHashes({ rows, from, before, columns, known }: Match): string {
  const numbered = (select: string) => `SELECT *, row_number() OVER (PARTITION BY k ORDER BY place) AS n FROM (${select})`;
  const fresh = numbered(`SELECT ord AS place, ${hashNew('r', known)} AS k, ${hashNew('r', columns)} AS h FROM ${rows} r`);
  const old = numbered(
    `SELECT ${rowIdColumn} AS place, ${hashOld('r', known, before)} AS k, ${hashOld('r', columns, before)} AS h FROM ${from} r`,
  );
  return `SELECT f.place AS ord, o.place AS old_id, o.place AS id, coalesce(o.h = f.h, false) AS same
    FROM (${fresh}) f LEFT JOIN (${old}) o ON o.k = f.k AND o.n = f.n`;
}
