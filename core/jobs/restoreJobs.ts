import type { FailedRun, RunOutput } from './transformJobs.ts';

/** A version that a restore made. */
export type RestoredVersion = Omit<RunOutput, 'tableId'>;

/** What a restore has done when its job begins; derived tables are run after it. */
export interface RestoreInput {
  /** The editing snapshot, which now holds the restored state. */
  snapshotId: string;
  restored: RestoredVersion[];
  archived: string[];
}

export interface RestoreResult extends RestoreInput {
  /** Derived tables that were run again. */
  recomputed: RestoredVersion[];
  /** Derived tables that could not be run again. */
  failed: Omit<FailedRun, 'tableId'>[];
}
