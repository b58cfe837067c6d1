import { renderProblem } from '../http/problem.ts';

interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  suggested_fix: string;
  errors?: { pointer?: string; detail: string }[];
}

const mostErrors = 20;
const written = new Set(['type', 'title', 'status', 'detail', 'suggested_fix', 'errors', 'instance']);

/** A refusal as an agent reads it: what is wrong, what to do, and what else the problem document says, such as `current_version`. */
export function describeProblem(error: unknown, requestId: string): string {
  const problem = JSON.parse(String(renderProblem(error, requestId).raw?.data)) as Problem;
  const others = Object.entries(problem).filter(([name]) => !written.has(name));
  return [
    `${problem.title} (${problem.status} ${problem.type.split(':').at(-1)}). ${problem.detail}`,
    ...(problem.errors ?? []).slice(0, mostErrors).map(({ pointer, detail }) => `- ${pointer ? `${pointer}: ` : ''}${detail}`),
    ...others.map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
    `What to do: ${problem.suggested_fix}`,
  ].join('\n');
}
