import type { TransformDefinition } from '../transforms/transform.ts';

export interface TransformInput {
  transformId: string;
  /** The transform to create or replace when its run succeeds. Null: run the stored one. */
  definition: TransformDefinition | null;
}

/** A version that a run made, or found to hold already what it would have made. */
export interface RunOutput {
  tableId: string;
  name: string;
  editVersion: number;
  rowCount: number;
}

export interface FailedRun {
  tableId: string;
  name: string;
  error: string;
}

/** What one run of a job came to. */
export type RunOutcome = { transformId: string; opId: number | null; created: boolean; conflicts: string[]; at: string } & (
  | { output: RunOutput; failed: null }
  | { output: null; failed: FailedRun }
);

export interface Recomputed {
  recomputed: RunOutput[];
  failed: FailedRun[];
  conflicts: string[];
}

export interface RecomputeResult extends Recomputed {
  /** Names of stale reports, which are not made again. */
  skippedReports?: string[];
}

export interface TransformResult extends Recomputed {
  transformId: string;
  created: boolean;
  output: RunOutput;
  opId: number | null;
}
