import { Connection } from '@temporalio/client';
import { describe, expect, it } from 'vitest';
import { hasAsked } from '../../store/temporal/client.ts';
import { retryUntilClosed } from '../../store/temporal/retryUntilClosed.ts';

/** The server goes on listing workers that are gone. */
describe('hasAsked', () => {
  const now = Date.parse('2026-01-01T00:05:00Z');
  const seen = (secondsAgo: number) => ({ lastAccessTime: { seconds: (now / 1000 - secondsAgo) as never } });
  it.each([
    ['no worker', [], false],
    ['one that asked just now', [seen(1)], true],
    ['one that has waited a minute for a task', [seen(65)], true],
    ['one that is gone', [seen(180)], false],
    ['one that is gone and another that is not', [seen(180), seen(30)], true],
    ['one of which nothing is known', [{}], false],
  ])('%s', (_who, pollers, asked) => expect(hasAsked(pollers, now)).toBe(asked));
});

describe('a connection that is closed while its server is away', () => {
  it('ends what would be tried again', async () => {
    let tries = 0;
    const count: (typeof retryUntilClosed)[number] = (options, nextCall) => {
      tries += 1;
      return nextCall(options) as ReturnType<(typeof retryUntilClosed)[number]>;
    };
    const connection = Connection.lazy({ address: '127.0.0.1:1', interceptors: [...retryUntilClosed, count] });
    const asked = connection.workflowService.getSystemInfo({}).catch((error: Error) => error.message);
    await expect.poll(() => tries).toBe(2);
    await connection.close();
    expect(await asked).toContain('Channel has been shut down');
    // Many: what a call throws and what it is told arrive in either order.
    const late = Array.from({ length: 50 }, () => connection.workflowService.getSystemInfo({}).catch((error: Error) => error.message));
    expect(new Set(await Promise.all(late))).toEqual(new Set(['1 CANCELLED: Channel has been shut down']));
  });
});
