import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { signSessionToken } from '../../activities/identity/sessionToken.ts';
import type { Operation } from '../../api/http/contract.ts';
import type { ProblemCode } from '../../core/errors.ts';
import { makeId } from '../../store/services.ts';
import type { Person, TestServer } from '../setup/api.ts';
import { mintKey } from '../setup/credentials.ts';
import type { Sample } from './sample.ts';
import { makeSample, sendSample } from './samples.ts';
import { allScopesBut, unknownId, type World } from './world.ts';

/** Provokes the problem and returns the answer to it. */
export type Case = (world: World, operation: Operation) => Promise<Response>;

interface Refused {
  sample: Promise<Sample>;
  /** The answer to a huge body. It is asked for early: the service waits a second for the rest of it. */
  huge: Promise<Response> | null;
  /** The answer to the request itself, where one of the refusals needed it. */
  success?: Response;
}

/** A request that is refused changes nothing, so one sample serves all the ways in which an operation refuses. */
const refusals = new WeakMap<Person, Map<string, Refused>>();

/** Whichever server of the same people it is sent to. */
function refuse(world: World, operation: Operation): Refused {
  const known = refusals.get(world.owner) ?? new Map<string, Refused>();
  refusals.set(world.owner, known);
  let refused = known.get(operation.id);
  if (!refused) {
    const sample = makeSample(world, operation);
    const huge = operation.bodyTypes.length > 0 ? sample.then((made) => announceHugeBody(world, operation, made)) : null;
    huge?.catch(() => {});
    refused = { sample, huge };
    known.set(operation.id, refused);
  }
  return refused;
}

export const sampleToRefuse = (world: World, operation: Operation): Promise<Sample> => refuse(world, operation).sample;
export const findSuccess = (world: World, operation: Operation): Response | undefined => refuse(world, operation).success;

const sendChanged =
  (change: (sample: Sample, world: World, operation: Operation) => Sample): Case =>
  async (world, operation) =>
    sendSample(world, operation, change(await sampleToRefuse(world, operation), world, operation));

const withQuery = (path: string, query: string) => `${path}${path.includes('?') ? '&' : '?'}${query}`;

/** A session whose time is over, signed as the service signs. */
async function expiredSession({ api, owner }: World): Promise<string> {
  return signSessionToken(api.services.sessionKey, {
    jti: makeId('ses'),
    userId: owner.userId,
    expiresAt: new Date(Date.now() - 1000),
  });
}

const mib = 1024 * 1024;

/** A body that is larger than the operation takes. */
function describeHugeBody({ bodyTypes, takesAnyBytes }: Operation): { 'Content-Type': string; 'Content-Length': number } {
  if (bodyTypes.includes('multipart/form-data')) return { 'Content-Type': 'multipart/form-data; boundary=x', 'Content-Length': 103 * mib };
  if (takesAnyBytes) return { 'Content-Type': 'application/octet-stream', 'Content-Length': 100 * mib + 1 };
  return { 'Content-Type': 'application/json', 'Content-Length': 33 * mib };
}

/** Announces a body that is larger than the operation takes; nothing of it needs to be sent. */
export function announceHugeBody(world: World, operation: Operation, sample: Sample): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${world.api.url}${sample.path}`, {
      method: operation.method.toUpperCase(),
      headers: {
        ...describeHugeBody(operation),
        ...(sample.token === null ? {} : { Authorization: `Bearer ${world.owner.session}` }),
      },
    });
    request.on('error', reject);
    request.on('response', async (answer) => {
      const parts: Buffer[] = [];
      for await (const part of answer) parts.push(part as Buffer);
      request.destroy();
      resolve(new Response(Buffer.concat(parts), { status: answer.statusCode, headers: answer.headers as Record<string, string> }));
    });
    request.flushHeaders();
  });
}

/** While the first request cannot store its answer, a second one with the same key comes. The first succeeds, so this comes last. */
async function repeatWhileRunning(world: World, operation: Operation): Promise<Response> {
  const refused = refuse(world, operation);
  const sample = await refused.sample;
  const keyed = { ...sample, headers: { ...sample.headers, 'Idempotency-Key': randomUUID() } };
  const blocker = await world.api.sql.connect();
  try {
    // Answers can still be looked up, but none can be stored.
    await blocker.query('BEGIN; LOCK TABLE idempotency IN SHARE ROW EXCLUSIVE MODE');
    const first = sendSample(world, operation, keyed);
    await waitForBlocked(world, blocker);
    const second = await sendSample(world, operation, keyed);
    await blocker.query('ROLLBACK');
    const answered = await first;
    if (!answered.ok) throw new Error(`the first request was answered ${answered.status}: ${await answered.text()}`);
    refused.success = answered;
    return second;
  } finally {
    await blocker.query('ROLLBACK');
    blocker.release();
  }
}

async function waitForBlocked({ api }: World, blocker: { query(text: string): Promise<{ rows: unknown[] }> }): Promise<void> {
  const [{ pid }] = (await blocker.query('SELECT pg_backend_pid() AS pid')).rows as [{ pid: number }];
  for (const until = Date.now() + 120_000; Date.now() < until; await new Promise((done) => setTimeout(done, 10))) {
    const { rowCount } = await api.sql.query('SELECT 1 FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))', [pid]);
    if (rowCount) return;
  }
  throw new Error('the first request never came to storing its answer');
}

async function useKeyTwice(world: World, operation: Operation): Promise<Response> {
  const key = randomUUID();
  const other = await world.api.fetch('/api/v1/workbooks', {
    method: 'POST',
    token: world.owner.session,
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
    body: JSON.stringify({ title: 'Something else' }),
  });
  if (other.status !== 201) throw new Error(`the other request was answered ${other.status}`);
  const sample = await sampleToRefuse(world, operation);
  return sendSample(world, operation, { ...sample, headers: { 'Idempotency-Key': key } });
}

/** Cases that hold for every operation which declares the problem. */
export const genericCases: Partial<Record<ProblemCode, Case>> = {
  unauthenticated: sendChanged((sample) => ({ ...sample, token: null })),

  'token-expired': async (world, operation) => {
    const sample = await sampleToRefuse(world, operation);
    return sendSample(world, operation, { ...sample, token: await expiredSession(world) });
  },

  'malformed-request': sendChanged(({ form, ...sample }) =>
    form
      ? { ...sample, body: '--x\r\nContent-Disposition: form-data', headers: { 'Content-Type': 'multipart/form-data; boundary=x' } }
      : { ...sample, body: '{"name": ' },
  ),

  'unsupported-media': sendChanged(({ form, ...sample }) => ({
    ...sample,
    ...(form ? { body: 'text' } : {}),
    headers: { 'Content-Type': 'text/plain' },
  })),

  // `format` in the address would win.
  'not-acceptable': sendChanged((sample) => ({
    ...sample,
    path: sample.path.replace(/[?&]format=[\w-]+/, ''),
    headers: { ...sample.headers, Accept: 'image/png' },
  })),

  async 'too-large'(world, operation) {
    const { sample: made, huge } = refuse(world, operation);
    if (huge) return huge;
    const sample = await made;
    return sendSample(world, operation, { ...sample, headers: { ...sample.headers, 'X-Long': 'x'.repeat(200_000) } });
  },

  'validation-failed': sendChanged((sample, _world, operation) =>
    sample.form
      ? { ...sample, form: { ...sample.form, fields: { ...sample.form.fields, surprise: '1' } } }
      : operation.bodyTypes.length > 0 && !operation.takesAnyBytes
        ? { ...sample, body: { ...(sample.body as object), surprise: 1 } }
        : { ...sample, path: withQuery(sample.path, 'surprise=1') },
  ),

  'missing-scope': async (world, operation) => {
    // A key, because it works on both planes.
    const key = await mintKey(world.owner.client, { scopes: allScopesBut(...operation.scopes) });
    return sendSample(world, operation, { ...(await sampleToRefuse(world, operation)), token: key.text });
  },

  'outside-reach': sendChanged((sample, world) => ({ ...sample, token: world.pinnedKey })),

  'insufficient-role': sendChanged((sample, world) => ({ ...sample, token: world.viewer.session })),

  'not-found': sendChanged((sample) => ({
    ...sample,
    // The first id in the path: what it names is not there.
    path: sample.path.replace(/\/([a-z]{2,3})_[0-9A-HJKMNP-TV-Z]{26}/, (_, prefix) => `/${unknownId(prefix)}`),
  })),

  'idempotency-in-progress': repeatWhileRunning,
  'idempotency-mismatch': useKeyTwice,
};

/** 429 of a network address that has used up its tries. `limited` believes what a proxy says of addresses. */
export async function exceedTries(world: World, limited: TestServer, operation: Operation): Promise<Response> {
  const address = '192.0.2.77';
  // Tries that seem to lie ahead count until the test is over, however slow the machine.
  await world.api.sql.query(
    `INSERT INTO login_attempts (subject, attempt, at, failed)
     SELECT subject, 'try ' || n, now() + interval '5 minutes', true FROM unnest($1::text[]) AS subject, generate_series(1, 40) AS n`,
    [[`address ${address}`, `sign-up ${address}`]],
  );
  const there = { ...world, api: { ...world.api, fetch: limited.fetch } };
  const sample = await sampleToRefuse(world, operation);
  return sendSample(there, operation, { ...sample, headers: { ...sample.headers, 'X-Forwarded-For': address } });
}

/** 429 of a credential whose minute is used up. `limited` is a server with limits on, over the same database. */
export async function exceedRate(world: World, limited: TestServer, operation: Operation): Promise<Response> {
  // A window that seems to lie ahead stays the current one, so that no minute ends in between.
  await world.api.sql.query(
    `INSERT INTO rate_windows (subject, minute, leased) VALUES ($1, extract(epoch FROM now())::int / 60 + 5, 10000)
     ON CONFLICT (subject) DO UPDATE SET minute = excluded.minute, leased = excluded.leased`,
    [world.owner.userId],
  );
  const sample = await sampleToRefuse(world, operation);
  return sendSample({ ...world, api: { ...world.api, fetch: limited.fetch } }, operation, { ...sample, token: world.owner.session });
}
