export type SourceFormat = 'xlsx' | 'csv' | 'tsv';
export type SourceStatus = 'registered' | 'analyzing' | 'analyzed' | 'ingesting' | 'materialized' | 'failed';

export interface IngestInput {
  sourceId: string;
  /** The revision of the source that it makes. */
  revision: number;
  structuring: 'auto' | 'skip' | 'defer';
  /** The source was there before: what it had stays when this ingest is refused. */
  existed: boolean;
  /** Asked for as a job: its end is an event. */
  announce: boolean;
  /** The raw tables are there, and structuring is to follow. */
  landed?: boolean;
  /** New bytes for a source that has some. */
  revise?: { blobKey: string; sha256: string; size: number; contentType: string; format: SourceFormat; filename: string };
}

export interface IngestResult {
  sourceId: string;
  creditsCharged: number;
}

export interface AnalyzeInput {
  sourceId: string;
  /** What the source goes back to when nothing comes of the job. */
  statusBefore: SourceStatus;
}

export interface AnalyzeResult {
  sourceId: string;
}

export interface MaterializeInput {
  sourceId: string;
  /** What the source goes back to when nothing comes of the job. */
  statusBefore: SourceStatus;
  /** Null: those that are selected in the parse spec. */
  regions: string[] | null;
  /** Null: new tables are made. */
  append: AppendTarget | null;
}

/** The table that rows are appended to. */
export interface AppendTarget {
  table: string;
  expectedVersion: number | null;
  /** From columns of the regions to columns of the table. */
  mapping: Record<string, string>;
}

export interface MaterializeResult {
  sourceId: string;
  tableIds: string[];
  /** With `append`. */
  editVersion: number | null;
  opId: number | null;
  /** Tables that the appended rows made stale; missing in results of earlier versions of the service. */
  stale?: string[];
}
