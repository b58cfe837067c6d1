import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest';
import { loadContract } from '../../api/http/contract.ts';
import { type ApiClient, connectTo, ok, refused, type TestServer } from '../setup/api.ts';
import { makeWorkbook, mintKey, mintToken } from '../setup/credentials.ts';
import { hideColumns } from '../setup/governance.ts';
import { makeTable } from '../setup/tables.ts';
import { type Load, startLoad } from './clusterLoad.ts';
import { type Product, readProcesses, readRuntimeFile, startProduct, waitForOutput, waitUntil } from './product.ts';

/** `npm run cluster`: two API processes behind a balancer, two workers, storage that speaks S3. */

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

type Server = Pick<TestServer, 'as' | 'fetch'>;

let folder: string;
let product: Product;
let first: Server;
let second: Server;
let owner: ApiClient;
let session: string;
let key: string;
const loads: Load[] = [];

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'svc-test-cluster-')));
  product = await startProduct({ dataDir: folder, temporalCli: inject('temporalCli'), isCluster: true });
  await waitForOutput(product, 'Ctrl-C stops all of it.', 0, 200_000);
  const contract = await loadContract();
  const [one = '', two = ''] = readRuntimeFile(product).behindUrls;
  [first, second] = [connectTo(one, contract), connectTo(two, contract)];
  const password = (await readFile(join(product.dataDir, 'first-password'), 'utf8')).trim();
  const balanced = connectTo(product.apiUrl, contract);
  session = ok(await balanced.as().POST('/api/auth/login', { body: { email: 'owner@localhost', password } })).session_token;
  owner = balanced.as(session);
  key = (await mintKey(owner, { scopes: ['workbooks:read', 'workbooks:write'], rate_limit_per_minute: 10_000 })).text;
});

afterAll(async () => {
  await Promise.all(loads.map((load) => load.stop()));
  product.child.kill('SIGTERM');
  expect(await product.exited).toBe(0);
  await rm(folder, { recursive: true, force: true, maxRetries: 20 });
});

const signalPart = (name: string, signal: NodeJS.Signals) => {
  const pid = readProcesses(product).get(name)?.pid;
  if (!pid) throw new Error(`${name} does not run`);
  process.kill(pid, signal);
};

const waitForReady = async (server: Server, status = 200) =>
  waitUntil(
    async () => (await server.fetch('/readyz').catch(() => null))?.status === status,
    150_000,
    () => `never ${status}:\n${product.output()}`,
  );

async function begin(retries: boolean) {
  const workbookId = await makeWorkbook(owner, 'Load');
  await makeTable(owner, workbookId, 'numbers', [{ name: 'n', type: 'BIGINT' }]);
  const load = startLoad({ url: product.apiUrl, key, workbookId, retries });
  loads.push(load);
  /** Until every client has had some more answers. */
  const goOn = async () => {
    const [rows, queries, uploads] = [load.acknowledged.size, load.queries, load.uploads.length];
    const isDone = () => load.acknowledged.size >= rows + 10 && load.queries >= queries + 2 && load.uploads.length >= uploads + 2;
    await waitUntil(
      () => isDone() || load.errors.length > 0,
      120_000,
      () => `${JSON.stringify({ ...load, acknowledged: load.acknowledged.size })}\n${product.output()}`,
    );
  };
  /** Nothing that was acknowledged is lost, nothing is there twice, and every job has ended well. */
  const expectAll = async () => {
    await load.stop();
    expect(load.errors).toEqual([]);
    const body = { sql: "SELECT string_agg(n::VARCHAR, ',' ORDER BY n) AS stored FROM numbers" };
    const answer = ok(await owner.POST('/api/v1/workbooks/{workbook_id}/query', { params: { path: { workbook_id: workbookId } }, body }));
    const [row] = (answer as { rows: Record<string, unknown>[] }).rows;
    expect(row).toEqual({ stored: [...load.acknowledged].sort((a, b) => a - b).join(',') });
    expect(load.uploads.filter(({ status }) => status !== 'succeeded')).toEqual([]);
    const params = { path: { workbook_id: workbookId }, query: { limit: 500 } };
    const { sources } = ok(await owner.GET('/api/v1/workbooks/{workbook_id}/sources', { params }));
    expect(sources.map(({ name }) => name).sort()).toEqual(load.uploads.map(({ name }) => name).sort());
  };
  return { goOn, expectAll };
}

it('holds for both processes what one was told', async () => {
  const workbookId = await makeWorkbook(owner, 'Both');
  await makeTable(
    first.as(session),
    workbookId,
    'people',
    [{ name: 'name' }, { name: 'salary', type: 'BIGINT' }],
    [{ name: 'A', salary: 7 }],
  );
  const path = { workbook_id: workbookId, name: 'people' };
  const readColumns = async (server: Server) => {
    const page = ok(await server.as(session).GET('/api/v1/workbooks/{workbook_id}/tables/{name}/rows', { params: { path } }));
    return Object.keys((page as { rows: object[] }).rows[0] ?? {}).filter((name) => !name.startsWith('__'));
  };
  expect([await readColumns(first), await readColumns(second)]).toEqual(Array(2).fill(['name', 'salary']));
  await hideColumns(first.as(session), workbookId, 'people', { salary: 'deny' });
  expect(await readColumns(second)).toEqual(['name']);

  const token = await mintToken(first.as(session));
  ok(await second.as(token.text).GET('/api/v1/me'));
  ok(await first.as(session).DELETE('/api/v1/me/tokens/{token_id}', { params: { path: { token_id: token.id } } }));
  refused(await second.as(token.text).GET('/api/v1/me'), 401, 'unauthenticated');

  const insert = (server: Server) =>
    server.fetch(`/api/v1/workbooks/${workbookId}/tables/people/rows`, {
      method: 'POST',
      token: session,
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'once' },
      body: JSON.stringify({ rows: [{ name: 'B' }], expected_version: null }),
    });
  const together = await Promise.all([insert(first), insert(second)]);
  for (const { status } of together) expect([200, 409]).toContain(status);
  const repeated = await Promise.all([insert(first), insert(second)]);
  expect(repeated.map(({ status, headers }) => [status, headers.get('idempotency-replayed')])).toEqual(Array(2).fill([200, 'true']));
  expect(ok(await owner.GET('/api/v1/workbooks/{workbook_id}/tables/{name}', { params: { path } })).row_count).toBe(2);

  // Again if a minute has just ended: the next one has its own requests.
  for (let minute = -1, accepted = -1; accepted !== 4; ) {
    const { text } = await mintKey(owner, { rate_limit_per_minute: 4 });
    minute = Math.floor(Date.now() / 60_000);
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => (i % 2 ? first : second).fetch('/api/v1/me', { token: text })));
    accepted = answers.filter(({ status }) => status === 200).length;
    if (Math.floor(Date.now() / 60_000) === minute) expect(accepted).toBe(4);
  }
});

it('loses nothing and does nothing twice when an API, a worker and the storage go', async () => {
  const load = await begin(true);
  await load.goOn();
  const before = product.output().length;
  for (const name of ['api-1', 'worker-1']) signalPart(name, 'SIGKILL');
  for (const name of ['api-1', 'worker-1']) await waitForOutput(product, `${name} is running again`, before);
  await waitForReady(first);
  // Silent first, then gone.
  signalPart('s3', 'SIGSTOP');
  await Promise.all([waitForReady(first, 503), waitForReady(second, 503)]);
  const from = product.output().length;
  signalPart('s3', 'SIGKILL');
  await waitForOutput(product, 's3 is running again', from);
  await Promise.all([waitForReady(first), waitForReady(second)]);
  await load.goOn();
  await load.expectAll();
});

it('gives no error to anybody while all of it is replaced, one by one', async () => {
  const load = await begin(false);
  await load.goOn();
  for (const number of [1, 2]) {
    const from = product.output().length;
    for (const name of [`api-${number}`, `worker-${number}`]) signalPart(name, 'SIGTERM');
    for (const name of [`api-${number}`, `worker-${number}`]) {
      await waitForOutput(product, `${name} ended (exit code 0)`, from);
      await waitForOutput(product, `${name} is running again`, from);
    }
    await waitForReady(number === 1 ? first : second);
  }
  await load.goOn();
  await load.expectAll();
});
