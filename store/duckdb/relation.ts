import type { BlobStore, OpenedBlobs } from '../blobs/blobStore.ts';

/**
 * A table's content at one version, as a principal may see it, in the form that DuckDB reads: files in the blob store,
 * log entries that are not in files yet, and a SELECT over both.
 */
export interface Relation {
  /** The name that SQL uses for it. */
  name: string;
  /** The visible columns in order; the last is `__svc_row_id`. Denied columns are left out. */
  columns: RelationColumn[];
  /** Keys of the blobs it reads. */
  files: string[];
  /** Path of a local file with the older log entries. Null: there is none. */
  tailFile: string | null;
  /** Log entries that are not in files, as a JSON array. Null: there are none. */
  tail: Tail | null;
  /**
   * The SELECT. `pathOf` returns the path of a blob, and returns `tailFile` unchanged; `tailName` is the temporary table with
   * `tail`. The result has exactly `columns`; masked ones are NULL.
   */
  select(pathOf: (key: string) => string, tailName: string): string;
  /** True if columns are hidden from the reader. User SQL must then run on loaded data, never on the files. */
  governed: boolean;
  /** Unique id of the version; caches use it as key. */
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

/** A column of the temporary table with a tail, and where an item of the JSON array holds its text. */
export interface TailColumn {
  name: string;
  type: string;
  /** A JSON path; by default the column's position in the item. */
  path?: string;
  /** The text for items without the path; null: NULL. */
  absent?: string | null;
  /** The name of the column for readers. Unset: a column of the service, which is always needed. */
  shownAs?: string;
}

/** Opens all files of relations; pass `pathOf` to their `select`. */
export async function openFiles(blobs: BlobStore, relations: Relation[]): Promise<OpenedBlobs> {
  const local = new Set(relations.map((relation) => relation.tailFile));
  const { pathOf, release } = await blobs.open([...new Set(relations.flatMap((relation) => relation.files))]);
  return { pathOf: (key) => (local.has(key) ? key : pathOf(key)), release };
}

/** The only function that quotes identifiers. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/**
 * SQL that creates the temporary table for a tail; its parameter `$1` is the tail's JSON. Each item is parsed once; columns
 * that are not needed stay NULL.
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
