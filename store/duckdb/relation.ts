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
  /** Rows of the log that are not in files: a JSON array of arrays of text or null, first the row id. Null when there are none. */
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
  /** Column names and types of the table that holds the tail, in the order of the inner arrays. */
  columns: { name: string; type: string }[];
  json: string;
}

/** The one helper that quotes identifiers. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** SQL that makes the table which holds a tail; its one parameter `$1` is the tail's JSON. */
export function createTailTable(tailName: string, tail: Tail): string {
  const casts = tail.columns.map(
    (column, i) => `CAST(json_extract_string(item, '$[${i}]') AS ${column.type}) AS ${quoteName(column.name)}`,
  );
  return `CREATE TEMP TABLE ${quoteName(tailName)} AS SELECT ${casts.join(', ')} FROM (SELECT unnest(CAST($1::JSON AS JSON[])) AS item)`;
}
