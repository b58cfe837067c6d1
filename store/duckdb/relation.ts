import type { BlobStore, OpenedBlobs } from '../blobs/blobStore.ts';

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
  /** The path of a local file that holds the older rows of the log; null when there is none. */
  tailFile: string | null;
  /** Rows of the log that are not in files, as a JSON array. Null when there are none. */
  tail: Tail | null;
  /**
   * The SELECT. `pathOf` gives the path of a blob, and of the tail's file by its own path; `tailName` is the table that holds `tail`. The result has
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
  /** The column that readers know it as; without one it is always needed. */
  shownAs?: string;
}

/** All files of some relations; `pathOf` is what their `select` wants. */
export async function openFiles(blobs: BlobStore, relations: Relation[]): Promise<OpenedBlobs> {
  const local = new Set(relations.map((relation) => relation.tailFile));
  const { pathOf, release } = await blobs.open([...new Set(relations.flatMap((relation) => relation.files))]);
  return { pathOf: (key) => (local.has(key) ? key : pathOf(key)), release };
}

/** The one helper that quotes identifiers. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/**
 * SQL that makes the table which holds a tail; its one parameter `$1` is the tail's JSON. Every item is parsed once, and
 * what nobody is going to ask for is left NULL.
 */
export function createTailTable(tailName: string, columns: TailColumn[], isNeeded: (shownAs: string) => boolean = () => true): string {
  const paths: string[] = [];
  const casts = columns.map(({ name, type, path, absent, shownAs }, i) => {
    if (shownAs !== undefined && !isNeeded(shownAs)) return `CAST(NULL AS ${type}) AS ${quoteName(name)}`;
    const place = quoteText(path ?? `$[${i}]`);
    const text = `texts[${paths.push(place)}]`;
    const value = absent == null ? text : `CASE WHEN json_exists(item, ${place}) THEN ${text} ELSE ${quoteText(absent)} END`;
    return `CAST(${value} AS ${type}) AS ${quoteName(name)}`;
  });
  return `CREATE TEMP TABLE ${quoteName(tailName)} AS SELECT ${casts.join(', ')}
    FROM (SELECT item, json_extract_string(item, [${paths.join(', ')}]) AS texts FROM (SELECT unnest(CAST($1::JSON AS JSON[])) AS item))`;
}
