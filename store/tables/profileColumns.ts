import type { DuckDBConnection } from '@duckdb/node-api';
import type { VisibleColumn, VisibleTable } from '../../core/table/visibleTable.ts';
import { jsonExpression } from '../duckdb/json.ts';
import { quoteName } from '../duckdb/relation.ts';
import { queryTable } from './openRelation.ts';
import type { TableStorage } from './tableStorage.ts';

export interface ColumnProfile {
  name: string;
  type: string;
  masked: boolean;
  null_count: number | null;
  null_share: number | null;
  distinct: number | null;
  min: unknown;
  max: unknown;
  mean: number | null;
  top_values: { value: unknown; count: number }[];
  histogram: { from: unknown; to: unknown; count: number }[];
}

const bins = 20;
const exactDistinctUpTo = 100_000;
const numeric = /^(BIGINT|DOUBLE|DECIMAL)/;
const temporal = /^(DATE|TIMESTAMP)/;

/** Statistics of columns; masked ones have only name and type. */
export async function profileColumns(storage: TableStorage, visible: VisibleTable): Promise<ColumnProfile[]> {
  return queryTable(storage, visible, null, async (connection, from) => {
    try {
      await connection.run(`CREATE OR REPLACE TEMP TABLE svc_profiled AS FROM ${from}`);
      const profiles: ColumnProfile[] = [];
      for (const column of visible.columns)
        profiles.push(column.masked ? emptyProfile(column) : await profileColumn(connection, column, visible.at.rowCount));
      return profiles;
    } finally {
      await connection.run('DROP VIEW IF EXISTS svc_profile; DROP TABLE IF EXISTS svc_profiled');
    }
  });
}

async function profileColumn(connection: DuckDBConnection, column: VisibleColumn, rowCount: number): Promise<ColumnProfile> {
  await connection.run(`CREATE OR REPLACE TEMP VIEW svc_profile AS SELECT ${quoteName(column.name)} AS v FROM svc_profiled`);
  const figures = await connection.runAndReadAll(figuresSql(column, rowCount));
  return {
    ...emptyProfile(column),
    ...(JSON.parse(figures.getRows()[0]?.[0] as string) as Partial<ColumnProfile>),
    top_values: await readTopValues(connection, column),
    histogram: await readHistogram(connection, column),
  };
}

function emptyProfile({ name, type, masked }: VisibleColumn): ColumnProfile {
  return {
    name,
    type,
    masked,
    null_count: null,
    null_share: null,
    distinct: null,
    min: null,
    max: null,
    mean: null,
    top_values: [],
    histogram: [],
  };
}

const longestText = 1_000;

/** As rows show it, but long texts are cut. */
function shownValue(sql: string, type: string): string {
  const shown = jsonExpression(sql, type);
  if (type !== 'VARCHAR' && type !== 'JSON') return shown;
  const text = `CAST(${sql} AS VARCHAR)`;
  return `CASE WHEN length(${text}) > ${longestText} THEN to_json(left(${text}, ${longestText}) || '…') ELSE to_json(${shown}) END`;
}

/** SQL for the statistics as one JSON text, with values written as in rows. */
function figuresSql(column: VisibleColumn, rowCount: number): string {
  const value = (sql: string) => shownValue(sql, column.type);
  const distinct = rowCount > exactDistinctUpTo ? 'approx_count_distinct(v)' : 'count(DISTINCT v)';
  const extremes = column.type === 'JSON' ? 'NULL AS lo, NULL AS hi' : 'min(v) AS lo, max(v) AS hi';
  const [lo, hi] = column.type === 'JSON' ? ['lo', 'hi'] : [value('lo'), value('hi')];
  return `SELECT CAST(json_object('null_count', n - filled, 'null_share', CASE WHEN n = 0 THEN 0 ELSE (n - filled) / CAST(n AS DOUBLE) END,
      'distinct', d, 'min', ${lo}, 'max', ${hi}, 'mean', CASE WHEN isfinite(mean) THEN mean END) AS VARCHAR)
    FROM (SELECT count(*) AS n, count(v) AS filled, ${distinct} AS d, ${extremes}, ${numeric.test(column.type) ? 'avg(CAST(v AS DOUBLE))' : 'NULL::DOUBLE'} AS mean FROM svc_profile)`;
}

async function readTopValues(connection: DuckDBConnection, column: VisibleColumn): Promise<ColumnProfile['top_values']> {
  const reader = await connection.runAndReadAll(
    `SELECT CAST(json_object('value', ${shownValue('v', column.type)}, 'count', c) AS VARCHAR)
     FROM (SELECT v, count(*) AS c FROM svc_profile WHERE v IS NOT NULL GROUP BY v ORDER BY c DESC, v LIMIT 10) ORDER BY c DESC, v`,
  );
  return reader.getRows().map(([text]) => JSON.parse(text as string) as { value: unknown; count: number });
}

/** Equal bins between minimum and maximum, for numbers and times; one bin if both are the same. */
async function readHistogram(connection: DuckDBConnection, { type }: VisibleColumn): Promise<ColumnProfile['histogram']> {
  const scale = chooseScale(type);
  if (!scale) return [];
  // The difference of two doubles can overflow; that of their halves cannot.
  const reader = await connection.runAndReadAll(
    `WITH points AS (SELECT ${scale.sql} AS x FROM svc_profile WHERE v IS NOT NULL), ends AS (SELECT min(x) AS lo, max(x) AS hi FROM points WHERE isfinite(x)),
       shares AS (SELECT lo, hi, CASE WHEN hi = lo THEN 0 WHEN isfinite(hi - lo) THEN (x - lo) / (hi - lo) ELSE (x / 2 - lo / 2) / (hi / 2 - lo / 2) END AS share
         FROM points, ends WHERE isfinite(x))
     SELECT lo, hi, CAST(least(${bins - 1}, floor(share * ${bins})) AS INTEGER) AS bin, CAST(count(*) AS DOUBLE) FROM shares GROUP BY ALL ORDER BY bin`,
  );
  const rows = reader.getRows() as [number, number, number, number][];
  const [first] = rows;
  if (!first) return [];
  const [lo, hi] = first;
  if (lo === hi) return [{ from: scale.show(lo), to: scale.show(hi), count: first[3] }];
  const counts = new Map(rows.map(([, , bin, count]) => [bin, count]));
  const edge = (i: number) => scale.show(lo * (1 - i / bins) + hi * (i / bins));
  return Array.from({ length: bins }, (_, i) => ({ from: edge(i), to: edge(i + 1), count: counts.get(i) ?? 0 }));
}

/** SQL that turns values into numbers, and how such a number is shown. Null: the type has no histogram. */
function chooseScale(type: string): { sql: string; show(x: number): number | string } | null {
  if (numeric.test(type)) return { sql: 'CAST(v AS DOUBLE)', show: (x) => x };
  if (type === 'TIME') return { sql: 'CAST(epoch_us(v) AS DOUBLE)', show: (us) => showInstant(us).slice('1970-01-01T'.length) };
  if (temporal.test(type)) return { sql: 'CAST(epoch_us(CAST(v AS TIMESTAMP)) AS DOUBLE)', show: showInstant };
  return null;
}

/** The last microsecond before the year 10000 that a double can represent. */
const lastInstant = Date.UTC(10_000, 0, 1) * 1000 - 32;

/** `us` are microseconds since 1970. */
function showInstant(us: number): string {
  const whole = Math.min(Math.round(us), lastInstant);
  const seconds = Math.floor(whole / 1e6);
  const fraction = whole - seconds * 1e6;
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}${fraction === 0 ? '' : `.${String(fraction).padStart(6, '0')}`}`;
}
