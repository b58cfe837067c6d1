import type { DuckDBConnection } from '@duckdb/node-api';
import { type ColumnPair, pairColumns } from '../../core/table/pairColumns.ts';
import { type RowSelection, rowIdColumn } from '../../core/table/table.ts';
import type { VisibleColumn, VisibleTable } from '../../core/table/visibleTable.ts';
import { readAll, withRelations } from '../duckdb/engine.ts';
import { jsonExpression, rowJson } from '../duckdb/json.ts';
import { quoteName, type Relation } from '../duckdb/relation.ts';
import { isWide } from '../duckdb/wide.ts';
import { cellBytes, requireSmallAnswer } from './answerSize.ts';
import { compareWide } from './compareWide.ts';
import type { PageRow } from './fetchRows.ts';
import { openRelation } from './openRelation.ts';
import type { ChangedCell, TableDiff, UpdatedRow } from './tableDiff.ts';
import type { TableStorage } from './tableStorage.ts';

export type VisiblePair = ColumnPair<VisibleColumn>;

let comparisons = 0;

/** The differences between two versions in the selected rows, or in all; lists at most `limit` rows of each kind. */
export async function compareVersions(
  storage: TableStorage,
  from: VisibleTable,
  to: VisibleTable,
  selection: RowSelection | null,
  limit: number,
): Promise<TableDiff> {
  if (isWide(from.columns) || isWide(to.columns)) {
    const wide = await compareWide(storage, from, to, selection, limit);
    if (wide) return wide;
  }
  const [left, right] = await Promise.all([openRelation(storage, from, selection), openRelation(storage, to, selection)]);
  const pairs = pairColumns(from.columns, to.columns);
  return withRelations(storage.engine, storage.blobs, [left, right], async (connection, froms) => {
    comparisons += 1;
    const found = `svc_diff_${comparisons}`;
    const [l, r] = froms as [string, string];
    const different = pairs.map(({ left: a, right: b }) => differ(a, b)).join(' OR ') || 'false';
    await connection.run(
      `CREATE TEMP TABLE ${found} AS SELECT * FROM (
         SELECT coalesce(l.${rowIdColumn}, r.${rowIdColumn}) AS id,
           CASE WHEN l.${rowIdColumn} IS NULL THEN 'I' WHEN r.${rowIdColumn} IS NULL THEN 'D' WHEN ${different} THEN 'U' END AS kind
         FROM ${l} l FULL JOIN ${r} r ON l.${rowIdColumn} = r.${rowIdColumn}) WHERE kind IS NOT NULL`,
    );
    try {
      const counted = await readAll(connection, `SELECT kind, CAST(count(*) AS DOUBLE) FROM ${found} GROUP BY kind`);
      const counts = new Map(counted.map(([kind, rows]) => [kind as string, rows as number]));
      // Named like the row id, because no column of a user can have that name.
      const some = (kind: string) => `(SELECT id AS ${rowIdColumn} FROM ${found} WHERE kind = '${kind}' ORDER BY id LIMIT ${limit})`;
      const fix = 'Ask for fewer rows with `limit`, or compare versions that lie closer together.';
      const sizeOf = (alias: 'l' | 'r', column: VisibleColumn | null) => (column ? cellBytes(sideSql(alias, column), column.type) : '0');
      const [ofLeft, ofRight] = [from.columns.map((column) => sizeOf('l', column)), to.columns.map((column) => sizeOf('r', column))];
      await requireSmallAnswer(connection, ofRight, `${r} r SEMI JOIN ${some('I')} USING (${rowIdColumn})`, fix);
      await requireSmallAnswer(connection, ofLeft, `${l} l SEMI JOIN ${some('D')} USING (${rowIdColumn})`, fix);
      const ofChanged = pairs
        .flatMap(({ left: a, right: b }) =>
          [a, b].map((column, i) => ({ size: sizeOf(i === 0 ? 'l' : 'r', column), changed: differ(a, b) })),
        )
        .flatMap(({ size, changed }) => (size === '0' ? [] : [`CASE WHEN ${changed} THEN ${size} ELSE 0 END`]));
      const both = `${l} l JOIN ${r} r ON l.${rowIdColumn} = r.${rowIdColumn} SEMI JOIN ${some('U')} f ON f.${rowIdColumn} = r.${rowIdColumn}`;
      await requireSmallAnswer(connection, ofChanged, both, fix);
      return {
        inserted: await readRows(connection, r, right, some('I')),
        deleted: await readRows(connection, l, left, some('D')),
        updated: await readUpdated(connection, l, r, pairs, some('U')),
        counts: { inserted: counts.get('I') ?? 0, updated: counts.get('U') ?? 0, deleted: counts.get('D') ?? 0 },
      };
    } finally {
      await connection.run(`DROP TABLE ${found}`);
    }
  });
}

async function readRows(connection: DuckDBConnection, side: string, { columns }: Relation, some: string): Promise<PageRow[]> {
  const rows = await readAll(
    connection,
    `SELECT CAST(${rowIdColumn} AS DOUBLE), CAST(${rowJson(columns)} AS VARCHAR)
     FROM ${side} SEMI JOIN ${some} USING (${rowIdColumn}) ORDER BY ${rowIdColumn}`,
  );
  return rows.map(([id, json]) => ({ id: id as number, json: json as string }));
}

/** The cells of a row are read as one JSON text, which is many times faster than value by value. */
async function readUpdated(connection: DuckDBConnection, l: string, r: string, pairs: VisiblePair[], some: string): Promise<UpdatedRow[]> {
  const names = pairs.map(({ left, right }) => right?.name ?? left?.name ?? '');
  const rows = await readAll(
    connection,
    `SELECT CAST(r.${rowIdColumn} AS DOUBLE), CAST(to_json(list_filter([${pairs.map(cellSql).join(', ')}], lambda cell: cell IS NOT NULL)) AS VARCHAR)
     FROM ${l} l JOIN ${r} r ON l.${rowIdColumn} = r.${rowIdColumn}
     SEMI JOIN ${some} f ON f.${rowIdColumn} = r.${rowIdColumn} ORDER BY r.${rowIdColumn}`,
  );
  return rows.map(([id, text]) => {
    const cells = JSON.parse(text as string) as [pair: number, old: string | null, now: string | null][];
    return {
      rowId: id as number,
      cells: cells.map(
        ([pair, old, now]): ChangedCell => ({ column: names[pair] as string, oldJson: old ?? 'null', newJson: now ?? 'null' }),
      ),
    };
  });
}

const sideSql = (alias: 'l' | 'r', column: VisibleColumn | null) => (column ? `${alias}.${quoteName(column.name)}` : 'NULL');

/** The text of the value as JSON. */
const sideText = (alias: 'l' | 'r', column: VisibleColumn | null) =>
  column ? `CAST(to_json(${jsonExpression(sideSql(alias, column), column.type)}) AS VARCHAR)` : 'NULL';

function differ(left: VisibleColumn | null, right: VisibleColumn | null): string {
  if (!left || !right || left.type === right.type) return `(${sideSql('l', left)} IS DISTINCT FROM ${sideSql('r', right)})`;
  // Values of different types are compared as the caller sees them.
  return `(${seenSql('l', left)} IS DISTINCT FROM ${seenSql('r', right)})`;
}

/** DuckDB writes a whole DOUBLE as 5.0, which must equal the 5 of an integer. */
function seenSql(alias: 'l' | 'r', column: VisibleColumn): string {
  const text = sideText(alias, column);
  return column.type === 'DOUBLE' ? `regexp_replace(${text}, '\\.0$', '')` : text;
}

function cellSql({ left, right }: VisiblePair, pair: number): string {
  return `CASE WHEN ${differ(left, right)} THEN json_array(${pair}, ${sideText('l', left)}, ${sideText('r', right)}) END`;
}
