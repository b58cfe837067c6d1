/** A table of a workbook, as the catalog knows it. */
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
  /** Unique over crashes: a version number may be issued again with other content, this never. */
  versionUid: string;
  manifestId: string;
  /** The version at which the columns last changed. */
  schemaVersion: number;
  rowCount: number;
  nextRowId: number;
  nextColumnId: number;
  /** Log entries that no file of the current manifest holds: what a compaction would fold. */
  tailCount: number;
  createdAt: Date;
  updatedAt: Date;
  deletedAt: Date | null;
}

/** A column, known by its id: a rename keeps it, a retype gives a new one. */
export interface ColumnRecord {
  id: number;
  name: string;
  type: string;
  /** The value, as canonical text, of rows written before the column was added. */
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

/** A table at one version: all that is needed to read it. */
export interface TableAt extends TableVersion {
  columns: ColumnRecord[];
}

/**
 * A layer of a table's content; a later layer wins by row id.
 * `segment`: rows that no earlier layer holds. `delta`: whole rows after a change, or their removal.
 * `log`: entries of the log with `after < edit_version <= upTo`; the last layer is open, up to the version read.
 */
export type Layer = LayerOf<number>;
export type FileLayer = Exclude<Layer, { kind: 'log' }>;

type LayerOf<Version> =
  | { kind: 'segment'; key: string; rows: number; minRow: number; maxRow: number; bytes: number }
  | { kind: 'delta'; key: string; rows: number; after: Version; upTo: Version; bytes: number }
  | { kind: 'log'; after: Version; upTo: Version | null };

/** The version that is being made, in layers that are written down before its number is known; the database puts it in. */
export const newVersion = '$version';
export type PlannedLayer = LayerOf<number | typeof newVersion>;

/** The name under which callers see a row's id, beside the columns; no column may have it. */
export const rowIdColumn = '__svc_row_id';

/** A row: column id to canonical text. */
export type Cells = Record<string, string | null>;

/** A part of the rows, by id: a range, or some. */
export type RowSelection = { min: number; max: number } | { ids: number[] };
