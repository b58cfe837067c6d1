import { ApplicationFailure, TemporalFailure } from '@temporalio/common';
import { describeErrorForLog } from '../store/log.ts';

/**
 * What an activity throws is written to Temporal's history and to the worker's log. It goes there by its kind and place
 * alone: messages of the database and the engine quote values.
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
  // Cancellation is told apart by these.
  if (error instanceof TemporalFailure || (error instanceof Error && error.name === 'AbortError')) return error;
  const { error: kind, code, stack, cause } = describeErrorForLog(error) as unknown as DescribedError;
  const message = [kind, code, cause?.error, cause?.code].filter(Boolean).join(' ');
  const failure = ApplicationFailure.create({ message, type: kind });
  failure.stack = [message, ...(stack ?? [])].join('\n');
  return failure;
}
