/** A table of a workbook, as stored in the catalog. */
export interface TableRecord {
  id: string;
  workbookId: string;
  accountId: string;
  name: string;
  type: 'table' | 'view' | 'report';
  layer: 'base' | 'derived' | 'view';
  state: 'active' | 'archived';
  description: string | null;
  editVersion: number;
  /** Never reused. A version number can be used again, with other content, after a crash. */
  versionUid: string;
  manifestId: string;
  /** The version that last changed the columns. */
  schemaVersion: number;
  rowCount: number;
  nextRowId: number;
  nextColumnId: number;
  /** Log entries that are in no file of the current version; a compaction would fold them. */
  tailCount: number;
  createdAt: Date;
  updatedAt: Date;
  deletedAt: Date | null;
  /** That of its workbook when the table was read: raised with every change of tags and policies, 0 while there never were any. */
  policyVersion: number;
}

/** A column, identified by id: a rename keeps the id, a retype assigns a new one. */
export interface ColumnRecord {
  id: number;
  name: string;
  type: string;
  /** The value, as canonical text, for rows written before the column was added. */
  defaultText: string | null;
  description: string | null;
}

/** A table at one version, without its columns. */
export interface TableVersion {
  table: TableRecord;
  editVersion: number;
  versionUid: string;
  manifestId: string;
  schemaVersion: number;
  rowCount: number;
  layers: Layer[];
}

/** A table at one version, with all that is needed to read it. */
export interface TableAt extends TableVersion {
  columns: ColumnRecord[];
}

/**
 * A layer of a table's content; for each row id the later layer wins. `segment`: rows that no earlier layer holds. `delta`:
 * whole rows after a change, or their removal. `log`: log entries with `after < edit_version <= upTo`; the last layer is open
 * and ends at the version being read.
 */
export type Layer = LayerOf<number>;
export type FileLayer = Exclude<Layer, { kind: 'log' }>;

type LayerOf<Version> =
  | { kind: 'segment'; key: string; rows: number; minRow: number; maxRow: number; bytes: number }
  | { kind: 'delta'; key: string; rows: number; after: Version; upTo: Version; bytes: number }
  | { kind: 'log'; after: Version; upTo: Version | null };

/** Stands for the version being made, in layers planned before its number is known; the database replaces it. */
export const newVersion = '$version';
export type PlannedLayer = LayerOf<number | typeof newVersion>;

/** The name under which callers see a row's id. No column may have it. */
export const rowIdColumn = '__svc_row_id';

/** A row: column id to canonical text. */
export type Cells = Record<string, string | null>;

/** Some of the rows: a range of ids, or a list. */
export type RowSelection = { min: number; max: number } | { ids: number[] };
