import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hideLiterals, summarize } from '../../store/tracing/traceStatements.ts';
import { startTestApi, type TestApi } from '../setup/api.ts';
import { type ApiProcess, startApiProcess } from '../setup/apiProcess.ts';
import { makeWorkbook } from '../setup/credentials.ts';
import { readSources } from '../setup/sources.ts';
import { type CollectedSpan, startTraceCollector, type TraceCollector } from '../setup/traceCollector.ts';
import { environmentOf, startWorkerProcess, type WorkerProcess } from '../setup/workerProcess.ts';

/** Traces of requests, workflows, activities and statements, as a collector gets them. */

describe('with a collector', () => {
  let collector: TraceCollector;
  let api: TestApi;
  let traced: ApiProcess;
  let worker: WorkerProcess;
  let token: string;
  let workbookId: string;

  beforeAll(async () => {
    collector = await startTraceCollector();
    api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
    [traced, worker] = await Promise.all([
      startApiProcess({ ...environmentOf(api.config), ...collector.env }),
      startWorkerProcess(api.config, collector.env),
    ]);
    const owner = await api.signUp('Owner');
    token = owner.session;
    workbookId = await makeWorkbook(owner.client, 'traced');
  });
  afterAll(async () => {
    worker.child.kill('SIGTERM');
    await worker.ended;
    await traced.stop();
    await api.stop();
    await collector.stop();
  });

  const ask = (path: string, traceparent?: string, body?: FormData) =>
    fetch(`${traced.url}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { Authorization: `Bearer ${token}`, tracestate: 'vendor=secretstate', ...(traceparent ? { traceparent } : {}) },
      ...(body ? { body } : {}),
    });
  const spansOf = (traceId: string) => collector.spans().filter((span) => span.traceId === traceId);

  it('makes one trace of an upload: request, workflow, activities and statements', async () => {
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const callerId = 'b7ad6b7169203331';
    const form = new FormData();
    form.set('file', new Blob(['品目,金額\nりんご,120\nみかん,80\n']), 'secretname.csv');
    const answer = await ask(`/api/v1/workbooks/${workbookId}/sources`, `00-${traceId}-${callerId}-01`, form);
    expect(answer.status).toBe(201);
    const names = () => spansOf(traceId).map(({ name }) => name);
    await expect.poll(names).toEqual(expect.arrayContaining(['uploadSource', 'RunWorkflow:ingest', 'RunActivity:promote']));
    const spans = spansOf(traceId);
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    const ancestors = (span: CollectedSpan): string[] => {
      const parent = byId.get(span.parentSpanId);
      return parent ? [parent.name, ...ancestors(parent)] : [span.parentSpanId];
    };
    const find = (name: string) => spans.find((span) => span.name === name) as CollectedSpan;
    expect(ancestors(find('uploadSource'))).toEqual([callerId]);
    expect(find('uploadSource')).toMatchObject({
      part: 'api',
      attributes: {
        'http.request.method': 'POST',
        'http.response.status_code': '201',
        'svc.request_id': answer.headers.get('x-request-id'),
      },
    });
    expect(ancestors(find('RunActivity:prepareTables'))).toEqual([
      'StartActivity:prepareTables',
      'RunWorkflow:ingest',
      'StartWorkflow:ingest',
      'uploadSource',
      callerId,
    ]);
    const statements = spans.filter(({ attributes }) => attributes['db.system.name'] === 'postgresql');
    const inRequest = statements.filter(({ part }) => part === 'api');
    const inActivity = statements.filter(
      ({ part, ...span }) => part === 'worker' && ancestors({ part, ...span })[0] === 'RunActivity:promote',
    );
    expect(inRequest.length).toBeGreaterThan(0);
    expect(inActivity.length).toBeGreaterThan(0);
    for (const { name, attributes } of statements) {
      expect(name).toBe(attributes['db.query.summary']);
      expect(attributes['db.query.text']).toEqual(expect.any(String));
    }
    for (const word of ['secretname', '品目', 'りんご', 'secretstate', token]) expect(collector.text()).not.toContain(word);
  });

  it('says what went wrong by its code alone', async () => {
    const traceId = '1af7651916cd43dd8448eb211c80319c';
    expect((await ask(`/api/v1/workbooks/${workbookId}/tables/secrettable`, `00-${traceId}-b7ad6b7169203331-01`)).status).toBe(404);
    await expect.poll(() => spansOf(traceId).map(({ name }) => name)).toContain('getTable');
    const span = spansOf(traceId).find(({ name }) => name === 'getTable');
    expect(span?.attributes).toMatchObject({ 'svc.problem': 'not-found', 'http.response.status_code': '404' });
    expect(collector.text()).not.toContain('secrettable');
  });

  it.each([
    '',
    'nonsense',
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`,
    'x'.repeat(5000),
  ])('begins a trace of its own where the caller names none: %#', async (traceparent) => {
    const answer = await ask('/api/v1/me', traceparent || undefined);
    const requestId = answer.headers.get('x-request-id');
    const find = () => collector.spans().find(({ attributes }) => attributes['svc.request_id'] === requestId);
    await expect.poll(find).toMatchObject({ name: 'getMe', parentSpanId: '' });
  });

  it('leaves out what its caller does not want to keep', async () => {
    const traceId = '2af7651916cd43dd8448eb211c80319c';
    await ask('/api/v1/me', `00-${traceId}-b7ad6b7169203331-00`);
    const marker = '3af7651916cd43dd8448eb211c80319c';
    await ask('/api/v1/me', `00-${marker}-b7ad6b7169203331-01`);
    await expect.poll(() => spansOf(marker).length).toBeGreaterThan(0);
    expect(spansOf(traceId)).toEqual([]);
  });
});

describe('without a collector', () => {
  it('loads nothing of OpenTelemetry', async () => {
    const sources = await readSources(['activities', 'api', 'core', 'scripts', 'store', 'workflows']);
    const importing = sources.filter(({ text }) =>
      /^import (?!type).*from '(@opentelemetry|@temporalio\/interceptors-opentelemetry)/m.test(text),
    );
    expect(importing.map(({ path }) => path).filter((path) => !path.startsWith('store/tracing/'))).toEqual([]);
    const opening = sources.filter(({ text }) => /^import (?!type).*\/(openTracing|safeExporter|traceStatements)\.ts'/m.test(text));
    expect(opening.map(({ path }) => path)).toEqual(['store/tracing/openTracing.ts']);
  });
});

it.each([
  ["SELECT set_config('svc.accounts', 'acc_1', true)", 'SELECT', "SELECT set_config('?', '?', true)"],
  ['select "id" from "jobs" where "jobs"."id" = $1', 'SELECT jobs', 'select "id" from "jobs" where "jobs"."id" = $1'],
  ["INSERT INTO usage_entries (a) VALUES ('it''s\n secret')", 'INSERT usage_entries', "INSERT INTO usage_entries (a) VALUES ('?')"],
  ['SELECT * FROM svc_commit_edit($1)', 'SELECT svc_commit_edit', 'SELECT * FROM svc_commit_edit($1)'],
  ['BEGIN', 'BEGIN', 'BEGIN'],
])('shows %s without its values', (text, summary, shown) => {
  expect([summarize(text), hideLiterals(text)]).toEqual([summary, shown]);
});
