import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import createClient, { type Client } from 'openapi-fetch';
import type pg from 'pg';
import { expect, inject } from 'vitest';
import { type Contract, loadContract } from '../../api/http/contract.ts';
import { type RunningApi, startApi } from '../../api/server.ts';
import type { paths } from '../../schema/contract.ts';
import { loadServiceConfig, type ServiceConfig } from '../../store/config.ts';
import type { Services } from '../../store/services.ts';
import { findContractBreaches } from './contractCheck.ts';
import { createDatabase, type TestDatabase } from './database.ts';
import { driveEnv } from './driveServers.ts';
import { forEverybody, openSql } from './everybody.ts';
import { quietTemporal } from './quietTemporal.ts';
import { removeSchedules } from './schedules.ts';

export type ApiClient = Client<paths>;

export interface Person {
  email: string;
  password: string;
  userId: string;
  session: string;
  client: ApiClient;
}

/** One server. Every answer its clients get is held against the contract. */
export interface TestServer {
  url: string;
  /** A typed client; without a token it sends none. */
  as(token?: string): ApiClient;
  /** Plain fetch, also held against the contract. */
  fetch(path: string, init?: RequestInit & { token?: string }): Promise<Response>;
  stop(): Promise<void>;
}

/** A real API over a database of its own. */
export interface TestApi extends TestServer {
  config: ServiceConfig;
  running: RunningApi;
  /** Its services, for calling what lies below requests. */
  services: Services;
  /** Straight to the database, for looking behind the API and for tampering. */
  sql: pg.Pool;
  contract: Contract;
  signUp(name?: string): Promise<Person>;
  /** A second API process's worth of server over the same database; stopped with the first at the latest. */
  another(env?: Record<string, string>): Promise<TestServer>;
}

/** Clients of the server at `url`. */
export function connectTo(url: string, checked: Contract): Pick<TestServer, 'as' | 'fetch'> {
  const check = async (request: { method: string; url: string }, response: Response) => {
    expect(await findContractBreaches(checked, request, response)).toEqual([]);
  };
  return {
    as(token) {
      const client = createClient<paths>({ baseUrl: url, headers: token ? { Authorization: `Bearer ${token}` } : {} });
      client.use({ onResponse: ({ request, response }) => check(request, response) });
      return client;
    },
    async fetch(path, { token, ...init } = {}) {
      const headers = new Headers(init.headers);
      if (token) headers.set('Authorization', `Bearer ${token}`);
      const response = await fetch(`${url}${path}`, { ...init, headers });
      await check({ method: init.method ?? 'GET', url: `${url}${path}` }, response);
      return response;
    },
  };
}

/** A database of its own, with all tables and no rows. */
export function createTestDatabase(): Promise<TestDatabase> {
  return createDatabase(inject('postgresUrl'), inject('templateUrl'));
}

export function testConfig(databaseUrl: string, env: Record<string, string> = {}): ServiceConfig {
  const temporalAddress = inject('temporalAddress');
  const config = loadServiceConfig({
    DATABASE_URL: databaseUrl,
    SVC_DATA_DIR: join(inject('dataDir'), new URL(databaseUrl).pathname.slice(1)),
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_TASK_QUEUE: `test-${randomBytes(4).toString('hex')}`,
    SVC_SECRET: 'a secret that only the tests know, long enough',
    SVC_LOG_LEVEL: 'silent',
    // However slow the machine, a request is answered with its result, not with its job.
    SVC_ANSWER_WAIT_MS: '120000',
    // Where servers of tests answer.
    SVC_OUTBOUND_ALLOW: '127.0.0.1',
    ...driveEnv,
    ...env,
  });
  return { ...config, port: 0 };
}

export async function startTestApi(env: Record<string, string> = {}): Promise<TestApi> {
  quietTemporal();
  const database = await createTestDatabase();
  const config = testConfig(database.url, env);
  const running = await startApi(config);
  const url = `http://127.0.0.1:${running.port}`;
  // As the server loads it, so that both share it.
  const checked = await loadContract();
  const sql = openSql(database.url, 6);
  const clients = connectTo(url, checked);
  const others = new Set<() => Promise<void>>();
  let people = 0;

  return {
    url,
    config,
    running,
    services: forEverybody(running.services),
    sql,
    contract: checked,
    ...clients,
    async signUp(name) {
      people += 1;
      const email = `person${people}.${randomBytes(3).toString('hex')}@example.com`;
      const password = 'correct horse battery';
      const data = ok(await clients.as().POST('/api/auth/signup', { body: { email, password, name: name ?? `Person ${people}` } }));
      return { email, password, userId: data.user.id, session: data.session_token, client: clients.as(data.session_token) };
    },
    async another(more = {}) {
      const other = await startApi(testConfig(database.url, { ...env, ...more }));
      const stop = async () => {
        if (others.delete(stop)) await other.stop();
      };
      others.add(stop);
      const otherUrl = `http://127.0.0.1:${other.port}`;
      return { url: otherUrl, ...connectTo(otherUrl, checked), stop };
    },
    async stop() {
      await Promise.all([...others].map((stop) => stop()));
      await running.stop();
      if (config.temporal.address === inject('temporalAddress')) await removeSchedules(config.temporal);
      await sql.end();
      await database.drop();
    },
  };
}

/** The answer's data, or a failure that says what the problem document said. */
export function ok<T>(answer: { data?: T; error?: unknown; response: Response }): T {
  if (answer.error !== undefined || !answer.response.ok) throw new Error(`${answer.response.status}: ${JSON.stringify(answer.error)}`);
  return answer.data as T;
}

/** Expects a refusal and returns its document. */
export function refused(answer: { error?: unknown; response: Response }, status: number, slug: string): Record<string, unknown> {
  const problem = answer.error as Record<string, unknown> | undefined;
  expect({ status: answer.response.status, type: problem?.type }).toEqual({ status, type: `urn:svc:problem:${slug}` });
  return problem as Record<string, unknown>;
}
