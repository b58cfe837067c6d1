import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeApp } from '../../api/http/app.ts';
import { loadContract } from '../../api/http/contract.ts';
import { makeMetrics } from '../../api/http/metrics.ts';
import { problems } from '../../core/errors.ts';
import { startTestApi, type TestApi } from '../setup/api.ts';
import { samples } from './samples.ts';

const contract = await loadContract();

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
});
afterAll(() => api.stop());

describe('the contract and what is built', () => {
  it('have the same operations', () => {
    const built = Object.keys(samples).sort();
    const declared = contract.operations.map(({ id }) => id as string);
    expect(declared.sort()).toEqual(built);
  });

  it('do not start apart: an operation without a handler, a handler without an operation', () => {
    const parts = { services: api.services, contract } as unknown as Parameters<typeof makeApp>[0];
    const metrics = makeMetrics(api.services, '0');
    const handlers = Object.fromEntries(contract.operations.map(({ id }) => [id, async () => ({ status: 200 })]));
    const { getMe: _, ...fewer } = handlers;
    expect(() => makeApp(parts, fewer as never, metrics)).toThrow(/operation getMe has no handler/);
    expect(() => makeApp(parts, { ...handlers, getYou: handlers.getMe } as never, metrics)).toThrow(/handler getYou has no operation/);
    expect(() => makeApp(parts, handlers as never, metrics)).not.toThrow();
  });
});

describe('what is not in the contract', () => {
  it('is 404 where there is nothing, 405 where the method is another', async () => {
    const nothing = await fetch(`${api.url}/api/v1/nothing`);
    expect([nothing.status, ((await nothing.json()) as { type: string }).type]).toEqual([404, 'urn:svc:problem:not-found']);
    const other = await fetch(`${api.url}/api/v1/me`, { method: 'DELETE' });
    expect([other.status, other.headers.get('allow')]).toEqual([405, expect.stringContaining('GET')]);
    const problem = (await other.json()) as { type: string; instance: string; suggested_fix: string };
    expect(problem.type).toBe('urn:svc:problem:method-not-allowed');
    expect(problem.instance).toBe(other.headers.get('x-request-id'));
    expect(problem.suggested_fix).toBeTruthy();
  });

  it.each(['PUT', 'PATCH'])('refuses %s of /api/v1/workbooks with 405', async (method) => {
    const answer = await fetch(`${api.url}/api/v1/workbooks`, { method });
    expect(answer.status).toBe(problems['method-not-allowed'].status);
    expect(answer.headers.get('content-type')).toMatch('application/problem+json');
  });
});
