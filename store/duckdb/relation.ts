/**
 * A table's content at one version, as a principal may see it, in the form that DuckDB reads: files in the blob store,
 * changes that are not in files yet, and a SELECT over both. Made in one place; every reader takes it from there.
 */
export interface Relation {
  /** The name that SQL uses for it. */
  name: string;
  /** What the reader sees, in order; the last column is `__svc_row_id`. Denied columns are not in it. */
  columns: RelationColumn[];
  /** Keys of the blobs it reads. */
  files: string[];
  /** Rows of the log that are not in files, as a JSON array. Null when there are none. */
  tail: Tail | null;
  /**
   * The SELECT. `pathOf` gives the local path of a blob; `tailName` is the table that holds `tail`. The result has
   * exactly `columns`, masked ones already NULL.
   */
  select(pathOf: (key: string) => string, tailName: string): string;
  /** True when columns are hidden from the reader: user SQL must then meet a loaded projection, never the files. */
  governed: boolean;
  /** Unique id of the version: what caches are keyed by. */
  versionUid: string;
  editVersion: number;
  rowCount: number;
}

export interface RelationColumn {
  name: string;
  /** DuckDB's name of the type. */
  type: string;
  masked: boolean;
}

export interface Tail {
  columns: TailColumn[];
  json: string;
}

/** A column of the table that holds a tail, and where its text stands in an item of the JSON array. */
export interface TailColumn {
  name: string;
  type: string;
  /** A JSON path; the column's own place in an array unless told. */
  path?: string;
  /** The text for items that do not have the path; null stands for null. */
  absent?: string | null;
}

/** The one helper that quotes identifiers. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** SQL that makes the table which holds a tail; its one parameter `$1` is the tail's JSON. Every item is parsed once. */
export function createTailTable(tailName: string, tail: Tail): string {
  const paths = tail.columns.map(({ path }, i) => quoteText(path ?? `$[${i}]`));
  const casts = tail.columns.map(({ name, type, absent }, i) => {
    const text = `texts[${i + 1}]`;
    const value = absent == null ? text : `CASE WHEN json_exists(item, ${paths[i]}) THEN ${text} ELSE ${quoteText(absent)} END`;
    return `CAST(${value} AS ${type}) AS ${quoteName(name)}`;
  });
  return `CREATE TEMP TABLE ${quoteName(tailName)} AS SELECT ${casts.join(', ')}
    FROM (SELECT item, json_extract_string(item, [${paths.join(', ')}]) AS texts FROM (SELECT unnest(CAST($1::JSON AS JSON[])) AS item))`;
}
