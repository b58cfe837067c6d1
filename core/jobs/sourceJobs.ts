import type { FileFormat } from '../structuring/spec/spec.ts';

export type SourceFormat = FileFormat;
export type SourceStatus = 'registered' | 'analyzing' | 'analyzed' | 'ingesting' | 'materialized' | 'failed';

export interface IngestInput {
  sourceId: string;
  /** The revision of the source that this job makes. */
  revision: number;
  structuring: 'auto' | 'skip' | 'defer';
  /** The source existed before: it keeps what it had if this ingest is refused. */
  existed: boolean;
  /** The raw tables exist; structuring follows. */
  landed?: boolean;
  /** New bytes for a source that already has some. */
  revise?: { blobKey: string; sha256: string; size: number; contentType: string; format: SourceFormat; filename: string };
}

export interface IngestResult {
  sourceId: string;
  creditsCharged: number;
}

export interface AnalyzeInput {
  sourceId: string;
  /** The source returns to this status if the job fails. */
  statusBefore: SourceStatus;
}

export interface AnalyzeResult {
  sourceId: string;
}

export interface MaterializeInput {
  sourceId: string;
  /** The source returns to this status if the job fails. */
  statusBefore: SourceStatus;
  /** Null: the regions selected in the parse spec. */
  regions: string[] | null;
  /** Null: makes new tables. */
  append: AppendTarget | null;
}

/** The table that rows are appended to. */
export interface AppendTarget {
  table: string;
  expectedVersion: number | null;
  /** Column of the region to column of the table. */
  mapping: Record<string, string>;
}

export interface MaterializeResult {
  sourceId: string;
  tableIds: string[];
  /** The table's new version; only with `append`. */
  editVersion: number | null;
  opId: number | null;
  /** Tables that the appended rows made stale. Results of earlier versions of the service lack it. */
  stale?: string[];
}
