import type { DuckDBConnection } from '@duckdb/node-api';
import type { Principal } from '../../core/access/principal.ts';
import type { RowSelection, TableAt } from '../../core/table/table.ts';
import { rowIdColumn } from '../../core/table/table.ts';
import { readAll, withRelations } from '../../store/duckdb/engine.ts';
import { jsonExpression, rowJson } from '../../store/duckdb/json.ts';
import { quoteName, quoteText, type Relation, type RelationColumn } from '../../store/duckdb/relation.ts';
import { isWide } from '../../store/duckdb/wide.ts';
import type { Services } from '../../store/services.ts';
import { openRelation } from '../tables/openTable.ts';
import { openVisibleTable } from '../tables/openVisibleTable.ts';
import { diffWide } from './diffWide.ts';
import { pairShown, type ShownPair } from './pairShown.ts';
import { findUnloggedVersions, readLog } from './readLog.ts';

/** Differences; rows and cells are the text of JSON values. */
export interface TableDiff {
  inserted: string[];
  updated: string[];
  deleted: string[];
  counts: { inserted: number; updated: number; deleted: number };
}

const mostFromLog = 5_000;
/** Row ids count from 1: this one stands for "none". */
const noRow = 0;
let diffs = 0;

/**
 * What differs between two versions, as the caller may see them. The rows to look at come from the log where it tells
 * all; after a restore, or where columns went or came with a default, all rows of both sides are compared.
 */
export async function diffTable(services: Services, principal: Principal, from: TableAt, to: TableAt, limit: number): Promise<TableDiff> {
  const selection = await selectRows(services, from, to);
  if (isWide(from.columns) || isWide(to.columns)) {
    const wide = await diffWide(services, principal, from, to, selection, limit);
    if (wide) return wide;
  }
  const [left, right] = await Promise.all([
    openRelation(services, await openVisibleTable(services, principal, from), selection),
    openRelation(services, await openVisibleTable(services, principal, to), selection),
  ]);
  const pairs = pairShown(from, to, left.columns, right.columns);
  return withRelations(services.engine, services.blobs, [left, right], async (connection, froms) => {
    diffs += 1;
    const found = `svc_diff_${diffs}`;
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
      // Under the name of the row id: no column of the table can be called so.
      const some = (kind: string) => `(SELECT id AS ${rowIdColumn} FROM ${found} WHERE kind = '${kind}' ORDER BY id LIMIT ${limit})`;
      const whole = (side: string, relation: Relation, kind: string) =>
        `SELECT CAST(${rowJson(relation.columns)} AS VARCHAR) FROM ${side} SEMI JOIN ${some(kind)} USING (${rowIdColumn}) ORDER BY ${rowIdColumn}`;
      return {
        inserted: await readTexts(connection, whole(r, right, 'I')),
        deleted: await readTexts(connection, whole(l, left, 'D')),
        updated: await readTexts(
          connection,
          `SELECT CAST(json_object('row_id', r.${rowIdColumn}, 'cells', list_filter([${pairs.map(cellSql).join(', ')}], lambda cell: cell IS NOT NULL)) AS VARCHAR)
           FROM ${l} l JOIN ${r} r ON l.${rowIdColumn} = r.${rowIdColumn}
           SEMI JOIN ${some('U')} f ON f.${rowIdColumn} = r.${rowIdColumn} ORDER BY r.${rowIdColumn}`,
        ),
        counts: { inserted: counts.get('I') ?? 0, updated: counts.get('U') ?? 0, deleted: counts.get('D') ?? 0 },
      };
    } finally {
      await connection.run(`DROP TABLE ${found}`);
    }
  });
}

async function readTexts(connection: DuckDBConnection, sql: string): Promise<string[]> {
  return (await readAll(connection, sql)).map(([text]) => text as string);
}

/** The rows that can differ: those of the log, when it tells all and they are not too many. Null: any. */
async function selectRows(services: Services, from: TableAt, to: TableAt): Promise<RowSelection | null> {
  const [early, late] = from.editVersion < to.editVersion ? [from, to] : [to, from];
  const [after, upTo] = [early.editVersion, late.editVersion];
  if (after === upTo) return { ids: [noRow] };
  if (touchesAllRows(early, late)) return null;
  if (!(await findUnloggedVersions(services, from.table.id, after, upTo)).logTellsAll) return null;
  const entries = await readLog(services, from.table.id, { after, upTo, limit: mostFromLog + 1, withCells: false });
  return entries.length > mostFromLog ? null : { ids: [...new Set([noRow, ...entries.map((entry) => entry.rowId)])] };
}

/** A column that goes takes its values from rows that no log names, and one that comes with a default gives all of them a value. */
function touchesAllRows(early: TableAt, late: TableAt): boolean {
  const idsOf = (at: TableAt) => new Set(at.columns.map((column) => column.id));
  const [before, after] = [idsOf(early), idsOf(late)];
  return (
    early.columns.some((column) => !after.has(column.id)) ||
    late.columns.some((column) => column.defaultText !== null && !before.has(column.id))
  );
}

const sideSql = (alias: 'l' | 'r', column: RelationColumn | null) => (column ? `${alias}.${quoteName(column.name)}` : 'NULL');
const sideJson = (alias: 'l' | 'r', column: RelationColumn | null) =>
  column ? jsonExpression(sideSql(alias, column), column.type) : 'NULL';

function differ(left: RelationColumn | null, right: RelationColumn | null): string {
  if (!left || !right || left.type === right.type) return `(${sideSql('l', left)} IS DISTINCT FROM ${sideSql('r', right)})`;
  // Of two types: by what the caller gets to see.
  return `(${seenSql('l', left)} IS DISTINCT FROM ${seenSql('r', right)})`;
}

/** A value as it is seen: the engine writes a whole DOUBLE as 5.0, which is the number 5 to whoever reads it. */
function seenSql(alias: 'l' | 'r', column: RelationColumn): string {
  const text = `CAST(to_json(${sideJson(alias, column)}) AS VARCHAR)`;
  return column.type === 'DOUBLE' ? `regexp_replace(${text}, '\\.0$', '')` : text;
}

function cellSql({ left, right }: ShownPair): string {
  const name = right?.name ?? left?.name ?? '';
  return `CASE WHEN ${differ(left, right)} THEN json_object('column', ${quoteText(name)}, 'old', ${sideJson('l', left)}, 'new', ${sideJson('r', right)}) END`;
}
