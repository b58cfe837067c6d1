import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { concealErrors } from '../../activities/concealErrors.ts';

describe('concealErrors', () => {
  const throwing = (error: unknown) =>
    concealErrors({
      run: async () => {
        throw error;
      },
    }).run();

  it('tells the kind and the place of an error, not its message', async () => {
    const inner = Object.assign(new Error('invalid input syntax: "社外秘"'), { code: '22P02', name: 'DatabaseError' });
    const failure = (await throwing(inner).catch((error: unknown) => error)) as ApplicationFailure;
    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({ message: 'DatabaseError 22P02', type: 'DatabaseError' });
    expect(failure.nonRetryable).toBeFalsy();
    expect(failure.stack).toContain('concealErrors.test.ts');
    expect(`${failure.stack}${failure.message}${failure.cause}`).not.toContain('社外秘');
  });

  it('leaves cancellation as it is', async () => {
    const cancelled = new CancelledFailure('cancelled');
    await expect(throwing(cancelled)).rejects.toBe(cancelled);
    const aborted = AbortSignal.abort().reason as Error;
    await expect(throwing(aborted)).rejects.toBe(aborted);
  });
});
