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
const numeric = /^(BIGINT|DOUBLE|DECIMAL)/;
const temporal = /^(DATE|TIMESTAMP)/;

/** How many values are counted in one statement, unless one column has more. */
const cellsAtOnce = 500_000;

/**
 * Statistics of columns; masked ones have only name and type. Columns of one type are counted together: a statement for each figure
 * of each column would cost more than its work.
 */
export async function profileColumns(storage: TableStorage, visible: VisibleTable): Promise<ColumnProfile[]> {
  const shown = visible.columns.filter(({ masked }) => !masked);
  const profiles = new Map<VisibleColumn, ColumnProfile>();
  if (shown.length > 0) {
    const atOnce = Math.max(1, Math.floor(cellsAtOnce / Math.max(1, visible.at.rowCount)));
    await queryTable(storage, { ...visible, columns: shown }, null, async (connection, from) => {
      try {
        await connection.run(`CREATE OR REPLACE TEMP TABLE svc_profiled AS FROM ${from}`);
        for (const alike of groupAlike(shown, atOnce))
          for (const [i, profile] of (await profileAlike(connection, alike)).entries()) profiles.set(alike[i] as VisibleColumn, profile);
      } finally {
        await connection.run('DROP TABLE IF EXISTS svc_counts; DROP TABLE IF EXISTS svc_profiled');
      }
    });
  }
  return visible.columns.map((column) => profiles.get(column) ?? emptyProfile(column));
}

/** Columns of the same type, at most so many at a time. */
function groupAlike(columns: VisibleColumn[], most: number): VisibleColumn[][] {
  const groups: VisibleColumn[][] = [];
  const open = new Map<string, VisibleColumn[]>();
  for (const column of columns) {
    const group = open.get(column.type);
    if (group && group.length < most) group.push(column);
    else {
      const next = [column];
      open.set(column.type, next);
      groups.push(next);
    }
  }
  return groups;
}

async function profileAlike(connection: DuckDBConnection, columns: VisibleColumn[]): Promise<ColumnProfile[]> {
  const { type } = columns[0] as VisibleColumn;
  await connection.run(`CREATE OR REPLACE TEMP TABLE svc_counts AS SELECT i, v, count(*) AS c FROM (${listValues(columns)}) GROUP BY i, v`);
  const figures = await readFigures(connection, type);
  const topValues = await readTopValues(connection, type);
  const histograms = await readHistograms(connection, type);
  return columns.map((column, i) => ({
    ...emptyProfile(column),
    ...(figures.get(i) ?? noFigures),
    top_values: topValues.get(i) ?? [],
    histogram: histograms.get(i) ?? [],
  }));
}

/** SQL: every value `v`, with the place `i` of its column. */
function listValues(columns: VisibleColumn[]): string {
  const names = columns.map(({ name }) => quoteName(name));
  if (names.length === 1) return `SELECT 0 AS i, ${names[0]} AS v FROM svc_profiled`;
  return `SELECT unnest(range(${names.length})) AS i, unnest([${names.join(', ')}]) AS v FROM svc_profiled`;
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

type Figures = Pick<ColumnProfile, 'null_count' | 'null_share' | 'distinct' | 'min' | 'max' | 'mean'>;

/** Of a table without rows. */
const noFigures: Figures = { null_count: 0, null_share: 0, distinct: 0, min: null, max: null, mean: null };

/** The statistics, with values written as in rows. */
async function readFigures(connection: DuckDBConnection, type: string): Promise<Map<number, Figures>> {
  const extremes = type === 'JSON' ? 'NULL AS lo, NULL AS hi' : 'min(v) AS lo, max(v) AS hi';
  const [lo, hi] = type === 'JSON' ? ['lo', 'hi'] : [shownValue('lo', type), shownValue('hi', type)];
  const mean = numeric.test(type) ? 'sum(CAST(v AS DOUBLE) * c) / sum(c) FILTER (v IS NOT NULL)' : 'NULL::DOUBLE';
  const reader = await connection.runAndReadAll(
    `SELECT CAST(i AS INTEGER), CAST(json_object('null_count', nulls, 'null_share', nulls / CAST(n AS DOUBLE),
       'distinct', d, 'min', ${lo}, 'max', ${hi}, 'mean', CASE WHEN isfinite(mean) THEN mean END) AS VARCHAR)
     FROM (SELECT i, CAST(sum(c) AS BIGINT) AS n, CAST(coalesce(sum(c) FILTER (v IS NULL), 0) AS BIGINT) AS nulls, count(v) AS d,
       ${extremes}, ${mean} AS mean FROM svc_counts GROUP BY i)`,
  );
  return new Map((reader.getRows() as [number, string][]).map(([i, text]) => [i, JSON.parse(text) as Figures]));
}

async function readTopValues(connection: DuckDBConnection, type: string): Promise<Map<number, ColumnProfile['top_values']>> {
  const reader = await connection.runAndReadAll(
    `SELECT CAST(i AS INTEGER), CAST(json_object('value', ${shownValue('top.v', type)}, 'count', -top.less) AS VARCHAR)
     FROM (SELECT i, unnest(tops) AS top FROM (SELECT i, min({less: -c, v: v}, 10) AS tops FROM svc_counts WHERE v IS NOT NULL GROUP BY i))
     ORDER BY i, top.less, top.v`,
  );
  const tops = new Map<number, ColumnProfile['top_values']>();
  for (const [i, text] of reader.getRows() as [number, string][]) {
    const top = JSON.parse(text) as ColumnProfile['top_values'][number];
    const before = tops.get(i);
    if (before) before.push(top);
    else tops.set(i, [top]);
  }
  return tops;
}

/** Values of a column between two edges: the least and greatest of all, the bin, how many. */
type Bin = [lo: number, hi: number, bin: number, count: number];

/** Equal bins between minimum and maximum, for numbers and times; one bin if both are the same. */
async function readHistograms(connection: DuckDBConnection, type: string): Promise<Map<number, ColumnProfile['histogram']>> {
  const scale = chooseScale(type);
  if (!scale) return new Map();
  // The difference of two doubles can overflow; that of their halves cannot.
  const reader = await connection.runAndReadAll(
    `WITH points AS (SELECT i, c, ${scale.sql} AS x FROM svc_counts WHERE v IS NOT NULL),
       ends AS (SELECT i, min(x) AS lo, max(x) AS hi FROM points WHERE isfinite(x) GROUP BY i),
       shares AS (SELECT i, c, lo, hi, CASE WHEN hi = lo THEN 0 WHEN isfinite(hi - lo) THEN (x - lo) / (hi - lo) ELSE (x / 2 - lo / 2) / (hi / 2 - lo / 2) END AS share
         FROM points JOIN ends USING (i) WHERE isfinite(x))
     SELECT CAST(i AS INTEGER), lo, hi, CAST(least(${bins - 1}, floor(share * ${bins})) AS INTEGER) AS bin, CAST(sum(c) AS DOUBLE) FROM shares
     GROUP BY ALL ORDER BY bin`,
  );
  const found = new Map<number, Bin[]>();
  for (const [i, ...bin] of reader.getRows() as [number, ...Bin][]) found.set(i, [...(found.get(i) ?? []), bin]);
  return new Map([...found].map(([i, rows]) => [i, spreadBins(rows, scale.show)]));
}

function spreadBins(rows: Bin[], show: (x: number) => number | string): ColumnProfile['histogram'] {
  const [first] = rows as [Bin, ...Bin[]];
  const [lo, hi] = first;
  if (lo === hi) return [{ from: show(lo), to: show(hi), count: first[3] }];
  const counts = new Map(rows.map(([, , bin, count]) => [bin, count]));
  const edge = (i: number) => show(lo * (1 - i / bins) + hi * (i / bins));
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
