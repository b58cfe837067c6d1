import { rowIdColumn, type TableAt } from '../../core/table/table.ts';
import type { DerivedColumn } from '../../core/transforms/outputColumns.ts';
import { innerName } from '../duckdb/buildRelation.ts';
import { quoteName, quoteText } from '../duckdb/relation.ts';
import { isWide } from '../duckdb/wide.ts';

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
function findOldName({ id }: DerivedColumn, before: TableAt | null): string | null {
  const old = before?.columns.find((column) => column.id === id);
  return old ? quoteName(old.name) : null;
}

/** SQL for a number that tells rows apart by the values of some columns. */
function hashRow(alias: string, names: (string | null)[]): string {
  const list = names.map((name) => (name === null ? 'NULL' : `CAST(${alias}.${name} AS VARCHAR)`));
  return `md5_number(CAST(to_json([${list.join(', ')}]) AS VARCHAR))`;
}

const hashNew = (alias: string, columns: DerivedColumn[]) =>
  hashRow(
    alias,
    columns.map(({ id }) => innerName(id)),
  );

const hashOld = (alias: string, columns: DerivedColumn[], before: TableAt | null) =>
  hashRow(
    alias,
    columns.map((column) => findOldName(column, before)),
  );

export const canMatch = ({ known, before, from }: Match) => from !== null && known.every((column) => findOldName(column, before) !== null);

/** What differs in a row is told by a bit for each column, in numbers of 64 bits; by one for all where there are very many. */
const bitsOfMask = 64;
const allBits = `${2n ** 64n - 1n}::UBIGINT`;

/** The names of these numbers. */
export const listMasks = (columns: readonly DerivedColumn[]) =>
  Array.from({ length: isWide(columns) ? 1 : Math.ceil(columns.length / bitsOfMask) }, (_, i) => `m${i}`);

/** SQL for these numbers: what differs between the rows `f` of the result and `o` of the version before. */
export function compareRows(columns: DerivedColumn[], before: TableAt | null): string[] {
  const same = columns.map((column) => isSameValue(column, before));
  if (isWide(columns)) return [`CASE WHEN ${same.join(' AND ')} THEN 0::UBIGINT ELSE ${allBits} END`];
  return listMasks(columns).map((_, i) => {
    const bits = same.slice(i * bitsOfMask, (i + 1) * bitsOfMask);
    return bits.map((each, bit) => `CASE WHEN ${each} THEN 0::UBIGINT ELSE ${2n ** BigInt(bit)}::UBIGINT END`).join(' | ');
  });
}

/** The ids of the columns that differ by these numbers. */
export function readMasks(columns: readonly DerivedColumn[], masks: (bigint | null)[]): Set<number> {
  const [first] = masks;
  const differs = (i: number) => ((masks[Math.floor(i / bitsOfMask)] ?? 0n) >> BigInt(i % bitsOfMask)) % 2n === 1n;
  return new Set(columns.filter((_, i) => (isWide(columns) ? (first ?? 0n) > 0n : differs(i))).map(({ id }) => id));
}

/** SQL that tells whether a row `f` of the result has the value of the row `o` of the version before. */
function isSameValue(column: DerivedColumn, before: TableAt | null): string {
  const [value, old] = [`f.${innerName(column.id)}`, findOldName(column, before)];
  if (old === null) return `(${value} IS NULL)`;
  // 0 and -0 are the same number with different texts.
  if (column.type === 'DOUBLE') return `(CAST(${value} AS VARCHAR) IS NOT DISTINCT FROM CAST(o.${old} AS VARCHAR))`;
  return `(${value} IS NOT DISTINCT FROM o.${old})`;
}

/** No row is found again. */
export function matchNothing({ rows, columns }: Match): string {
  return `SELECT ord, NULL::BIGINT AS old_id, NULL::BIGINT AS id, ${listMasks(columns).map((mask) => `${allBits} AS ${mask}`)} FROM ${rows}`;
}

/** By the values of the key, which no row of the result lacks or shares. */
export function matchKeys({ rows, from, before, columns, known }: Match): string {
  const on = known.map((column) => `f.${innerName(column.id)} = o.${findOldName(column, before)}`);
  const masks = compareRows(columns, before).map((mask, i) => `${mask} AS m${i}`);
  const oldId = `o.${rowIdColumn}`;
  return `SELECT f.ord, ${oldId} AS old_id, ${oldId} AS id, ${masks.join(', ')}
    FROM ${rows} f LEFT JOIN ${from} o ON ${on.join(' AND ')}`;
}

/** By hashes of the key, or of the content: the n-th of equal rows is the n-th again. */
export function matchHashes({ rows, from, before, columns, known }: Match): string {
  const numbered = (select: string) => `SELECT *, row_number() OVER (PARTITION BY k ORDER BY place) AS n FROM (${select})`;
  const fresh = numbered(`SELECT ord AS place, ${hashNew('r', known)} AS k, ${hashNew('r', columns)} AS h FROM ${rows} r`);
  const old = numbered(
    `SELECT ${rowIdColumn} AS place, ${hashOld('r', known, before)} AS k, ${hashOld('r', columns, before)} AS h FROM ${from} r`,
  );
  const masks = listMasks(columns).map((mask) => `CASE WHEN o.h = f.h THEN 0::UBIGINT ELSE ${allBits} END AS ${mask}`);
  return `SELECT f.place AS ord, o.place AS old_id, o.place AS id, ${masks.join(', ')}
    FROM (${fresh}) f LEFT JOIN (${old}) o ON o.k = f.k AND o.n = f.n`;
}
