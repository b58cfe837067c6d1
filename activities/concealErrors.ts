import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import { describeErrorForLog } from '../store/log.ts';

/**
 * Errors of activities are stored in Temporal's history and the worker's log. Only their kind and place are kept: messages of
 * PostgreSQL and DuckDB can quote cell values.
 */
export function concealErrors<T extends Record<string, (...args: never[]) => Promise<unknown>>>(activities: T): T {
  const concealed = Object.entries(activities).map(([name, run]) => [
    name,
    async (...args: never[]) => {
      try {
        return await run(...args);
      } catch (error) {
        throw conceal(error);
      }
    },
  ]);
  return Object.fromEntries(concealed) as T;
}

interface DescribedError {
  error: string;
  code?: string;
  stack?: string[];
  cause?: DescribedError;
}

function conceal(error: unknown): unknown {
  // The SDK needs these to recognise a cancellation.
  if (error instanceof TemporalFailure || (error instanceof Error && error.name === 'AbortError')) return error;
  const { error: kind, code, stack, cause } = describeErrorForLog(error) as unknown as DescribedError;
  const message = [kind, code, cause?.error, cause?.code].filter(Boolean).join(' ');
  const failure = ApplicationFailure.create({ message, type: kind });
  failure.stack = [message, ...(stack ?? [])].join('\n');
  return failure;
}
