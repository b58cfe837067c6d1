import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Operation, OperationId } from '../../api/http/contract.ts';
import { loadContract } from '../../api/http/contract.ts';
import { type ProblemCode, problems } from '../../core/errors.ts';
import type { TestApi, TestServer } from '../setup/api.ts';
import { type Case, exceedRate, exceedTries, findSuccess, genericCases, sampleToRefuse } from './genericCases.ts';
import { makeSample, sendSample } from './samples.ts';
import { specialCases } from './specialCases.ts';
import { makeWorld, startWorkingApi, type World } from './world.ts';

/**
 * Every operation that is built: its success, and every problem that the contract declares for it. The list comes from
 * the contract: a new operation, or a new problem of one, fails here until there is a case for it.
 */

const contract = await loadContract();
const info = contract.quick.document.info as unknown as Record<'x-common-problems' | 'x-common-problems-public', ProblemCode[]>;
const operations = contract.operations;

/** Shown once for the whole service in outages.test.ts: they come from parts that every operation shares. */
const shownElsewhere: ProblemCode[] = ['internal', 'unavailable'];

/** It takes a request that succeeds, which would change what the others are refused for. */
const comesLast: ProblemCode = 'idempotency-in-progress';

function declaredProblems(operation: Operation): ProblemCode[] {
  const own = (operation.backend as unknown as { 'x-problems'?: ProblemCode[] })['x-problems'] ?? [];
  const common = info[operation.accepts.length > 0 ? 'x-common-problems' : 'x-common-problems-public'];
  const slugs = [...new Set([...common, ...own])].filter((slug) => !shownElsewhere.includes(slug));
  return slugs.sort((a, b) => Number(a === comesLast) - Number(b === comesLast));
}

let api: TestApi;
let limited: TestServer;
/** Where nobody may store anything more. */
let full: TestServer;
/** Where all is switched off that an installation can switch off. */
let closed: TestServer;
let world: World;

beforeAll(async () => {
  api = await startWorkingApi({ SVC_TRANSFORM_TIME_MS: '5000' });
  limited = await api.another({ SVC_RATE_LIMITS: 'on', SVC_TRUST_PROXY: 'on' });
  full = await api.another({ SVC_STORAGE_LIMITS: '0B' });
  closed = await api.another({ SVC_SIGNUP: 'off', SVC_GOOGLE_CLIENT_ID: '', SVC_ONEDRIVE_CLIENT_ID: '' });
  world = await makeWorld(api);
});
afterAll(() => api.stop());

function findCase(operation: Operation, slug: ProblemCode): Case | undefined {
  const special = specialCases[operation.id as OperationId]?.[slug];
  if (slug === 'quota-exceeded') return (seen, called) => sendToFull(seen, called, special);
  if (special) return special;
  if (slug === 'rate-limited')
    return (seen, called) => (operation.accepts.length > 0 ? exceedRate(seen, limited, called) : exceedTries(seen, limited, called));
  if (slug === 'not-configured') return (seen, called) => sendToClosed(seen, called);
  return genericCases[slug];
}

/** What a sample needs is made where there is room. */
async function sendToFull(seen: World, operation: Operation, special?: Case): Promise<Response> {
  const there = { ...seen, api: { ...seen.api, fetch: full.fetch } };
  return special ? special(there, operation) : sendSample(there, operation, await sampleToRefuse(seen, operation));
}

async function sendToClosed(seen: World, operation: Operation): Promise<Response> {
  const sample = await sampleToRefuse(seen, operation);
  return sendSample({ ...seen, api: { ...seen.api, fetch: closed.fetch } }, operation, sample);
}

describe.each(operations)('$id', (operation) => {
  it.each(declaredProblems(operation))('answers %s', async (slug) => {
    const provoke = findCase(operation, slug);
    if (!provoke) throw new Error(`there is no case for ${slug} of ${operation.id}`);
    const answer = await provoke(world, operation);
    const body = (await answer.clone().json()) as Record<string, unknown>;
    expect({ status: answer.status, type: body.type }).toEqual({ status: problems[slug].status, type: `urn:svc:problem:${slug}` });
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    await expectNoLeak(answer);
  });

  it('succeeds, whatever was refused before', async () => {
    // What has expired does not come back.
    const make = declaredProblems(operation).includes('expired') ? makeSample : sampleToRefuse;
    const answer = findSuccess(world, operation) ?? (await sendSample(world, operation, await make(world, operation)));
    expect([answer.status, answer.ok ? '' : await answer.text()]).toEqual([answer.status, '']);
    if (operation.accepts.length > 0) await expectNoLeak(answer);
  });
});

describe('the table of cases', () => {
  it('has no case for a problem that is not declared', () => {
    const declared = new Set(operations.flatMap((operation) => declaredProblems(operation).map((slug) => `${operation.id} ${slug}`)));
    const stale = Object.entries(specialCases).flatMap(([id, cases]) =>
      Object.keys(cases).flatMap((slug) => (declared.has(`${id} ${slug}`) ? [] : [`${id} ${slug}`])),
    );
    expect(stale).toEqual([]);
  });

  it('knows every problem of the contract, with its status', () => {
    const slugs = (info as unknown as Record<string, Record<string, number>>)['x-problem-slugs'];
    expect(slugs).toEqual(Object.fromEntries(Object.entries(problems).map(([slug, { status }]) => [slug, status])));
  });
});

/** No stack, no file, no SQL in any answer. */
async function expectNoLeak(answer: Response): Promise<void> {
  const text = await answer.clone().text();
  expect(text).not.toMatch(/\bat .+:\d+:\d+\)?|\.ts\b|node_modules|node:internal|SELECT \S+ (FROM|AS)|INSERT INTO|violates/);
}
