import type { JobRecord } from '../../store/pg/jobs.ts';
import type { SourceRecord } from '../../store/pg/sources.ts';

/** What an ingest is asked to do. Ids and choices; kept with its job. */
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
  revise?: { blobKey: string; sha256: string; size: number; contentType: string; format: SourceRecord['format']; filename: string };
}

/** What came of it; kept as the job's result. Answers are made from it for whoever asks. */
export interface IngestResult {
  sourceId: string;
  creditsCharged: number;
}

export const inputOf = (job: JobRecord) => job.input as unknown as IngestInput;
