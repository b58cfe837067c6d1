import type { JobRecord } from '../../store/pg/jobs.ts';

/** A job that runs transforms. */
export type RunJob = JobRecord<'transform' | 'recompute' | 'restore'>;
