import { DomainError, type ProblemCode } from '../../../core/errors.ts';
import type { Analysis, SqlError } from '../../../core/sql/analyze.ts';
import type { TreeCheck } from '../../../core/sql/checkTree.ts';
import { ProcessGone } from './process.ts';
import type { ChildError } from './protocol.ts';

/** Turns failures of query processes into errors for the caller. */

const fixes = {
  'query-refused': 'Write one SELECT over the tables of the workbook.',
  'query-failed': 'Correct the query; validate it first to see its columns.',
  'query-timeout': 'Filter earlier, read fewer rows, or ask for a longer timeout.',
  'query-too-large': 'Filter earlier, return fewer or shorter values, or split the query.',
} satisfies Partial<Record<ProblemCode, string>>;

function sqlProblem(code: keyof typeof fixes, errors: SqlError[], cause?: unknown): DomainError {
  const [first] = errors;
  return new DomainError(code, first ? describe(first) : 'The query failed.', fixes[code], {
    errors: errors.map((error) => ({ pointer: '/sql', detail: describe(error) })),
    cause,
  });
}

function describe({ message, line, column }: SqlError): string {
  return line === null ? message : `${message} (line ${line}, column ${column})`;
}

export function requireOk(analysis: Analysis): Omit<TreeCheck, 'refusals'> {
  if (analysis.outcome === 'ok') return analysis;
  throw sqlProblem(`query-${analysis.outcome}`, analysis.errors);
}

/** The error of a reply: a refusal for the caller, or a fault of the service, whose text only goes to the log. */
export function childProblem(error: ChildError): Error {
  switch (error.kind) {
    case 'failed':
      return sqlProblem('query-failed', [error]);
    case 'too-large':
      return sqlProblem('query-too-large', [error]);
    case 'timeout':
      return sqlProblem('query-timeout', [error]);
    case 'broken':
      return new Error(`query process: ${error.message}`);
  }
}

const nowhere = { line: null, column: null };

/** Explains to the caller why the query's process was killed or died. */
export function goneProblem(error: unknown): unknown {
  if (!(error instanceof ProcessGone)) return error;
  if (error.why === 'timeout') return sqlProblem('query-timeout', [{ message: 'The query took too long.', ...nowhere }], error);
  // Nobody but the kernel, which is short of memory, is known to kill them.
  if (error.why === 'crash' || error.why === 'killed')
    return sqlProblem('query-too-large', [{ message: 'The query needs more memory than one query may use.', ...nowhere }], error);
  return new DomainError('unavailable', 'The service is stopping.', 'Try again in a moment.', {
    headers: { 'Retry-After': '5' },
    cause: error,
  });
}
