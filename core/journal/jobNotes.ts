import type { JobKind } from '../jobs/kinds.ts';
import { audited, type Notes } from './notes.ts';

export function jobCompleted(job: { id: string; kind: JobKind }, status: 'succeeded' | 'failed'): Notes {
  return { events: [{ type: 'job.completed', data: { job_id: job.id, kind: job.kind, status } }] };
}

export function jobCancelled(jobId: string): Notes {
  return audited('job.cancelled', jobId);
}

export function creditsSpent(amount: number): Notes {
  return { usage: [{ kind: 'credits', amount }] };
}
