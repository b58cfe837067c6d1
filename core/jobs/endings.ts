import { DomainError, type ProblemCode, problems } from '../errors.ts';

/** A refusal as stored with a job, for those who wait for its result. */
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

/** How a job ends that did not finish: somebody cancelled it, or its workflow stopped. */
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

/** The error for those who wait for a failed job. */
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

/** Whether the error is a refusal that a retry of the same step would repeat. */
export function isFinal(error: unknown): error is DomainError {
  if (!(error instanceof DomainError)) return false;
  const { status } = problems[error.code];
  // 429 is about what else goes on; 501 tells what the installation lacks.
  return (status < 500 && status !== 429) || status === 501;
}

/** Statuses of problems that lie in the request itself. */
const lasting = new Set<number>([400, 413, 415, 422]);

/** Whether the request itself was wrong, so that sending it again would fail again. */
export function isFaultOfInput(problem: JobProblem): boolean {
  return lasting.has(problems[problem.code as ProblemCode].status);
}

/** Whether the job failed for a passing reason, so that the same request may be tried again. */
export function mayBeRetried({ status, problem }: Job): boolean {
  return status === 'failed' && !(problem && isFaultOfInput(problem));
}
