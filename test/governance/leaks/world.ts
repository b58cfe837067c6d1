import ExcelJS from 'exceljs';
import { loadContract } from '../../../api/http/contract.ts';
import { scopes } from '../../../core/access/scopes.ts';
import { nowhere } from '../../contract/webhookSamples.ts';
import { connectTo, ok, type Person, startTestApi, type TestApi, type TestServer } from '../../setup/api.ts';
import { type ApiProcess, startApiProcess } from '../../setup/apiProcess.ts';
import { makeChart } from '../../setup/charts.ts';
import { makeWorkbook, makeWorkspace, mintKey, mintToken } from '../../setup/credentials.ts';
import { driveEnv } from '../../setup/driveServers.ts';
import { setPolicy, tagColumn } from '../../setup/governance.ts';
import { makeTable } from '../../setup/tables.ts';
import { startTraceCollector } from '../../setup/traceCollector.ts';
import { environmentOf, startWorkerProcess, type WorkerProcess } from '../../setup/workerProcess.ts';
import { columns, deniedNames, maskedNames } from './canaries.ts';

const base = '/api/v1/workbooks/{workbook_id}' as const;

export interface Caller {
  name: string;
  token: string | null;
  /** Holds `governance:configure`, with a role that may use it. */
  configures?: boolean;
  /** A rule lets this one see everything. */
  seesAll?: boolean;
  /** A result that its query left before there were policies. */
  resultId?: string;
}

/** A governed workbook with one of everything that the service keeps, in processes of their own that log all they can. */
export interface LeakWorld {
  api: TestApi;
  url: string;
  server: Pick<TestServer, 'fetch'>;
  callers: Caller[];
  workbookId: string;
  workspaceId: string;
  tables: string[];
  sources: string[];
  jobs: string[];
  links: string[];
  conflicts: string[];
  snapshotId: string;
  label: string;
  branchId: string;
  opIds: number[];
  viewerId: string;
  /** Of the owner; nobody listens at its address. */
  webhookId: string;
  logs(): string;
  /** All that a collector of traces was sent. */
  traces(): string;
  stop(): Promise<void>;
}

const all = Object.values(columns);
const rowAt = (row: number) => Object.fromEntries(all.map(({ name, at }) => [name, at(row)]));

async function makeSheet(rows: number): Promise<Buffer> {
  const book = new ExcelJS.Workbook();
  const sheet = book.addWorksheet('people');
  sheet.addRow(all.map(({ name }) => name));
  for (let row = 1; row <= rows; row += 1) sheet.addRow(all.map(({ at }) => at(row)));
  return Buffer.from(await book.xlsx.writeBuffer());
}

export async function openLeakWorld(): Promise<LeakWorld> {
  const api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  const collector = await startTraceCollector();
  const env = { ...environmentOf(api.config), ...driveEnv, ...collector.env, SVC_LOG_LEVEL: 'trace' };
  const [process, worker]: [ApiProcess, WorkerProcess] = await Promise.all([
    startApiProcess(env),
    startWorkerProcess(api.config, { ...collector.env, SVC_LOG_LEVEL: 'trace' }),
  ]);
  const server = connectTo(process.url, await loadContract());
  const people = await makePeople(api);
  const made = await makeEverything(api, server, people);
  return {
    api,
    url: process.url,
    server,
    ...made,
    workspaceId: people.team,
    viewerId: people.viewer.userId,
    logs: () => `${process.output()}\n${worker.output()}`,
    traces: collector.text,
    async stop() {
      worker.child.kill('SIGTERM');
      await worker.ended;
      await process.stop();
      await api.stop();
      await collector.stop();
    },
  };
}

type People = Awaited<ReturnType<typeof makePeople>>;

async function makePeople(api: TestApi) {
  const [owner, editor, viewer, payroll, stranger] = [
    await api.signUp('Olivia'),
    await api.signUp('Edgar'),
    await api.signUp('Victor'),
    await api.signUp('Paula'),
    await api.signUp('Stranger'),
  ];
  const team = await makeWorkspace(owner.client, 'Team');
  for (const [{ email }, role] of [[editor, 'editor'] as const, [viewer, 'viewer'] as const, [payroll, 'editor'] as const])
    ok(
      await owner.client.POST('/api/control/workspaces/{workspace_id}/users', {
        params: { path: { workspace_id: team } },
        body: { email, role },
      }),
    );
  ok(
    await owner.client.PUT('/api/control/workspaces/{workspace_id}/users/{user_id}/roles', {
      params: { path: { workspace_id: team, user_id: payroll.userId } },
      body: { roles: ['payroll'] },
    }),
  );
  return { owner, editor, viewer, payroll, stranger, team };
}

async function makeCallers({ owner, editor, viewer, payroll, stranger }: People): Promise<Caller[]> {
  const all = await mintKey(owner.client, { scopes: [...scopes] });
  const reading = await mintToken(owner.client, { scopes: ['workbooks:read'] });
  const wide = await mintToken(owner.client, { scopes: ['workbooks:read', 'workbooks:write'] });
  return [
    { name: 'payroll', token: payroll.session, seesAll: true },
    { name: 'owner', token: owner.session, configures: true },
    { name: 'viewer', token: viewer.session },
    { name: 'editor', token: editor.session, configures: true },
    { name: 'key', token: all.text, configures: true },
    { name: 'reading token', token: reading.text },
    { name: 'writing token', token: wide.text },
    { name: 'stranger', token: stranger.session },
    { name: 'nobody', token: null },
  ];
}

async function makeEverything(api: TestApi, server: Pick<TestServer, 'fetch'>, people: People) {
  const { owner } = people;
  const { client } = owner;
  const workbookId = await makeWorkbook(client, 'People', people.team);
  const path = { workbook_id: workbookId };
  const send = async (method: string, tail: string, body: unknown, token: string | null = owner.session) => {
    const isForm = body instanceof FormData;
    return server.fetch(`/api/v1/workbooks/${workbookId}/${tail}`, {
      method,
      ...(token === null ? {} : { token }),
      ...(body === undefined ? {} : isForm ? { body } : { body: JSON.stringify(body) }),
      headers: isForm || body === undefined ? {} : { 'Content-Type': 'application/json' },
    });
  };
  const done = async (method: string, tail: string, body?: unknown) => {
    const answer = await send(method, tail, body);
    if (answer.status >= 300) throw new Error(`${method} ${tail}: ${answer.status} ${await answer.text()}`);
    return (answer.headers.get('content-type') ?? '').includes('json') ? ((await answer.json()) as Record<string, unknown>) : answer;
  };

  const { id: webhookId } = ok(await client.POST('/api/v1/me/webhooks', { body: { url: nowhere } }));
  await upload(server, owner, workbookId, 'people.xlsx', await makeSheet(5));
  const tracked = new FormData();
  tracked.set('file', new Blob([new Uint8Array(await makeSheet(6))]), 'people.xlsx');
  const link = (await done('POST', 'file-links/local', tracked)) as unknown as { file_link: { id: string } };
  const wanted = all.map(({ name, at }) => ({ name, type: typeof at(1) === 'number' ? 'BIGINT' : 'VARCHAR' }));
  await makeTable(client, workbookId, 'made', wanted, [1, 2, 3, 4, 5].map(rowAt));
  await done('POST', 'tables/made/rows', { rows: [{ __svc_row_id: 2, ...rowAt(12) }], expected_version: null });
  await done('POST', 'tables/made/rows/delete', { row_ids: [3], expected_version: null });
  await done('POST', 'tables/made/annotations', {
    annotations: [
      { target: { row_id: 1, column: columns.deniedText.name }, note: 'kanariedenynote' },
      { target: { row_id: 1, column: columns.maskedText.name }, note: 'kanariemasknote' },
      { target: { column: columns.deniedNumber.name }, note: 'kanariedenycolumn' },
    ],
  });
  await done('POST', 'transforms', { name: 'derived', language: 'sql', template: 'SELECT * FROM {{ t }}', args: { t: 'made' }, run: true });
  await done('POST', 'transforms', {
    name: 'counted',
    language: 'sql',
    template: `SELECT grouped, max(${columns.deniedText.name}) AS top, max(${columns.maskedNumber.name}) AS most FROM {{ t }} GROUP BY grouped`,
    args: { t: 'people' },
    key: ['grouped'],
    run: true,
  });
  await done('POST', 'transforms', {
    name: 'seen',
    language: 'sql',
    template: `SELECT person, ${columns.deniedText.name} || '!' AS told, ${columns.maskedText.name} AS where_ FROM {{ t }}`,
    args: { t: 'made' },
    materialize: 'view',
    run: true,
  });
  await done('POST', 'transforms', {
    name: 'failing',
    language: 'sql',
    template: `SELECT CAST(${columns.deniedText.name} AS INTEGER) AS n, CAST(${columns.maskedText.name} AS DATE) AS d FROM {{ t }}`,
    args: { t: 'made' },
    run: false,
  });
  await send('POST', 'transforms/failing/run', {});
  await send('POST', 'recompute', undefined);
  await done('PUT', 'sheets/report', {
    spec: {
      blocks: [
        { kind: 'table_view', table: 'made' },
        { kind: 'table_view', table: 'seen' },
      ],
    },
  });
  await makeChart(api, owner.session, {
    workbookId,
    name: 'pay',
    table: 'made',
    config: {
      mark: 'text',
      encoding: {
        y: { field: columns.maskedText.name },
        x: { field: columns.deniedText.name, title: 'kanariedenytitle' },
        text: { field: columns.deniedNumber.name },
      },
    },
  });
  const { report } = (await done('POST', 'review', { save: true })) as { report: string | null };
  const snapshot = (await done('POST', 'snapshots', { summary: 'a moment' })) as { id: string };
  await done('POST', 'versions', { label: 'first' });
  const exported = (await done('POST', 'export', { tables: ['made'], format: 'csv', record_branch: true })) as Response;
  const branchId = exported.headers.get('x-svc-branch-id') ?? '';
  const returned = (await exported.text()).replaceAll('kanariedeny1x', 'kanariedenyback').replaceAll('kanariemask1x', 'kanariemaskback');
  await done('POST', 'tables/made/rows', {
    rows: [{ __svc_row_id: 1, [columns.deniedText.name]: 'kanariedenynow', [columns.maskedText.name]: 'kanariemasknow' }],
    expected_version: null,
  });
  const form = new FormData();
  form.set('branch_id', branchId);
  form.set('file', new Blob([returned]), 'made.csv');
  await done('POST', 'tables/made/merge', form);

  const callers = await makeCallers(people);
  for (const caller of callers) {
    const answer = await send('POST', 'query', { sql: 'SELECT * FROM made' }, caller.token);
    if (answer.status === 200) caller.resultId = ((await answer.json()) as { id: string }).id;
  }
  for (const table of ['made', 'people']) {
    for (const column of deniedNames) await tagColumn(client, workbookId, table, column, 'secret');
    for (const column of maskedNames) await tagColumn(client, workbookId, table, column, 'private');
  }
  await setPolicy(client, workbookId, 'secret', 'deny');
  await setPolicy(client, workbookId, 'private', 'mask');
  for (const tag of ['secret', 'private']) await setPolicy(client, workbookId, tag, 'allow', 'payroll');

  const { tables } = ok(await client.GET(`${base}/tables`, { params: { path, query: { limit: 100 } } }));
  const { sources } = ok(await client.GET(`${base}/sources`, { params: { path } }));
  const { jobs } = ok(await client.GET('/api/v1/jobs', { params: { query: { limit: 100 } } }));
  const { conflicts } = ok(await people.payroll.client.GET(`${base}/conflicts`, { params: { path } }));
  const { ops } = ok(await client.GET(`${base}/ops`, { params: { path, query: { limit: 100 } } }));
  return {
    callers,
    workbookId,
    tables: [...new Set([...tables.map(({ name }) => name), ...(report ? [report] : [])])],
    sources: sources.map(({ name }) => name),
    jobs: jobs.map(({ job_id }) => job_id),
    links: [link.file_link.id],
    conflicts: conflicts.map(({ id }) => id),
    opIds: ops.map(({ op_id }) => op_id),
    snapshotId: snapshot.id,
    label: 'first',
    webhookId,
    branchId,
  };
}

async function upload(
  server: Pick<TestServer, 'fetch'>,
  { session }: Person,
  workbookId: string,
  name: string,
  bytes: Buffer,
): Promise<void> {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(bytes)]), name);
  const answer = await server.fetch(`/api/v1/workbooks/${workbookId}/sources`, { method: 'POST', token: session, body: form });
  const body = (await answer.json()) as { job_id?: string | null };
  if (answer.status >= 300) throw new Error(`the upload: ${answer.status} ${JSON.stringify(body)}`);
  if (!body.job_id) return;
  for (let status = 'running'; status === 'running' || status === 'pending'; ) {
    const job = (await (await server.fetch(`/api/v1/jobs/${body.job_id}?wait=10`, { token: session })).json()) as { status: string };
    status = job.status;
  }
}
