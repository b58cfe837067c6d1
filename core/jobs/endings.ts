import { DomainError, type ProblemCode, problems } from '../errors.ts';

/** A refusal as it is kept with a job, for those who wait for the answer. */
export interface JobProblem {
  code: string;
  detail: string;
  suggestedFix: string;
  errors?: { pointer?: string; detail: string }[];
  /** Members of the problem document beyond the common ones, such as `current_version`. */
  members?: Record<string, unknown>;
}

interface Job {
  status: 'pending' | 'running' | 'succeeded' | 'failed';
  error: string | null;
  problem: JobProblem | null;
}

export function isOver({ status }: Job): boolean {
  return status === 'succeeded' || status === 'failed';
}

/** How a job ends whose work was broken off: by somebody who asked for that, or with its workflow. */
export type Ending = 'cancelled' | 'stopped';

export const endings: Record<Ending, JobProblem> = {
  cancelled: { code: 'in-use', detail: 'cancelled', suggestedFix: 'Start it again if it is still wanted.' },
  stopped: { code: 'unavailable', detail: 'The work was stopped before it was done.', suggestedFix: 'Start it again.' },
};

export function toProblem(error: DomainError): JobProblem {
  return {
    code: error.code,
    detail: error.detail,
    suggestedFix: error.suggestedFix,
    ...(error.extras.errors ? { errors: error.extras.errors } : {}),
    ...(error.extras.members ? { members: error.extras.members } : {}),
  };
}

/** What whoever waits for a failed job is told. */
export function explainFailure(job: Job): DomainError {
  const { code, detail, suggestedFix, errors, members } = job.problem ?? {
    code: 'unavailable',
    detail: job.error ?? 'The work failed.',
    suggestedFix: 'Try again in a moment.',
  };
  return new DomainError(code as ProblemCode, detail, suggestedFix, {
    ...(errors && { errors }),
    ...(members && { members }),
    ...(code === 'unavailable' && { headers: { 'Retry-After': '5' } }),
  });
}

/** A refusal that running the same step again would not change. */
export function isFinal(error: unknown): error is DomainError {
  return error instanceof DomainError && problems[error.code].status < 500;
}

/** Statuses that say that the request itself is wrong. */
const lasting = new Set<number>([400, 413, 415, 422]);

/** What was sent is at fault: the same again would fare no better. */
export function isFaultOfInput(problem: JobProblem): boolean {
  return lasting.has(problems[problem.code as ProblemCode].status);
}

/** The job has failed for reasons that pass: nothing has come of it, and the same request may be tried anew. */
export function mayFareBetter({ status, problem }: Job): boolean {
  return status === 'failed' && !(problem && isFaultOfInput(problem));
}
