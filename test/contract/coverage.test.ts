import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pendingOperations } from '../../api/handlers/pending.ts';
import { makeApp } from '../../api/http/app.ts';
import type { Operation } from '../../api/http/contract.ts';
import { loadContract } from '../../api/http/contract.ts';
import { makeMetrics } from '../../api/http/metrics.ts';
import { problems } from '../../core/errors.ts';
import { startTestApi, type TestApi } from '../setup/api.ts';
import { samples } from './samples.ts';
import { makeWorld, type World } from './world.ts';

const contract = await loadContract();
const pending = new Set<string>(pendingOperations);
const pendingOnes = contract.operations.filter(({ id }) => pending.has(id));

let api: TestApi;
let world: World;
beforeAll(async () => {
  api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  world = await makeWorld(api);
});
afterAll(() => api.stop());

describe('the contract and what is built', () => {
  it('have the same operations', () => {
    const built = Object.keys(samples).sort();
    const declared = contract.operations.map(({ id }) => id as string);
    expect(declared.filter((id) => !pending.has(id)).sort()).toEqual(built);
    expect(pendingOperations.filter((id) => !declared.includes(id))).toEqual([]);
    // Said at the end of every run, so that nobody forgets.
    console.log(`${pendingOnes.length} of ${declared.length} operations are still to be built`);
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

describe('an operation that is still to be built', () => {
  it.each(pendingOnes)('$id answers 501 to a good request', async (operation) => {
    const answer = await api.fetch(examplePath(operation), { ...exampleRequest(operation), token: world.owner.session });
    expect([answer.status, await answer.json()]).toEqual([501, expect.objectContaining({ type: 'urn:svc:problem:not-yet-available' })]);
  });

  it('still asks who is there, and what they may do', async () => {
    const upload = pendingOnes.filter(({ accepts }) => accepts.length > 0);
    for (const operation of upload) {
      const answer = await api.fetch(examplePath(operation), exampleRequest(operation));
      expect([operation.id, answer.status]).toEqual([operation.id, 401]);
    }
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

interface Parameter {
  in: string;
  name: string;
  required?: boolean;
  example?: unknown;
  schema?: { example?: unknown; default?: unknown; enum?: unknown[] };
}

/** The path of an operation with the examples that the contract gives for its parameters. */
function examplePath(operation: Operation): string {
  const parameters = (operation.backend.parameters ?? []) as Parameter[];
  const value = (parameter: Parameter | undefined) =>
    encodeURIComponent(String(parameter?.example ?? parameter?.schema?.example ?? parameter?.schema?.enum?.[0] ?? 'x'));
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name) =>
    value(parameters.find((each) => each.in === 'path' && each.name === name)),
  );
  const query = parameters.filter((each) => each.in === 'query' && each.required).map((each) => `${each.name}=${value(each)}`);
  return query.length > 0 ? `${path}?${query.join('&')}` : path;
}

/** Method, headers and body of an operation, from the examples of the contract. */
function exampleRequest(operation: Operation): RequestInit {
  const method = operation.method.toUpperCase();
  const parameters = (operation.backend.parameters ?? []) as Parameter[];
  const headers = Object.fromEntries(
    parameters.filter((each) => each.in === 'header' && each.required).map((each) => [each.name, String(each.example ?? 'x')]),
  );
  const content = (
    operation.backend.requestBody as { content?: Record<string, { example?: unknown; examples?: Record<string, { value: unknown }> }> }
  )?.content;
  const [type] = Object.keys(content ?? {});
  if (!content || !type) return { method, headers };
  const example = content[type]?.example ?? Object.values(content[type]?.examples ?? {})[0]?.value;
  if (type === 'multipart/form-data') return { method, headers, body: toForm(example as Record<string, unknown>) };
  if (type.includes('json')) return { method, headers: { ...headers, 'Content-Type': type }, body: JSON.stringify(example) };
  if (type === 'application/x-www-form-urlencoded')
    return { method, headers, body: new URLSearchParams(Object.entries((example ?? {}) as Record<string, string>)) };
  return { method, headers: { ...headers, 'Content-Type': 'application/octet-stream' }, body: 'bytes' };
}

function toForm(example: Record<string, unknown> = {}): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(example)) {
    if (name === 'file') form.set('file', new Blob(['a,b\n1,2\n']), 'sales.csv');
    else if (value !== null) form.set(name, String(value));
  }
  return form;
}
