import { expect, it } from 'vitest';
import { eventKinds } from '../../core/journal/events.ts';
import { connect } from '../mcp/client.ts';
import { makeChart } from '../setup/charts.ts';
import { makeWorkbook } from '../setup/credentials.ts';
import { readEvents, type ServiceEvent, useWebhookWorld } from './world.ts';

/** Every kind of event, emitted by the operations that make it. */

const world = await useWebhookWorld();
const { api, owner } = world;
const book = await makeWorkbook(owner.client, 'Kinds', world.team);
let seen = 0;
let marks = 0;

async function send(method: string, tail: string, body?: unknown): Promise<Response> {
  const isForm = body instanceof FormData;
  const answer = await api.fetch(`/api/v1/workbooks/${book}/${tail}`, {
    method,
    token: owner.session,
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    headers: isForm || body === undefined ? {} : { 'Content-Type': 'application/json' },
  });
  if (!answer.ok) throw new Error(`${method} ${tail}: ${answer.status} ${await answer.text()}`);
  return answer;
}

/** What has happened in the workbook since the last time this was asked, up to a mark that is made now: events have an order. */
async function takeEvents(): Promise<ServiceEvent[]> {
  marks += 1;
  const mark = `mark ${marks}`;
  await send('PUT', `sheets/${encodeURIComponent(mark)}`, { spec: { blocks: [] } });
  const isMark = ({ data }: ServiceEvent) => 'name' in data && data.name === mark;
  await expect.poll(async () => (await readEvents(owner.client, book)).some(isMark)).toBe(true);
  const events = (await readEvents(owner.client, book)).slice(seen);
  const until = events.findIndex(isMark);
  seen += until + 1;
  return events.slice(0, until);
}

/** The same as kinds, with what they are about. */
async function expectEvents(...wanted: string[]): Promise<void> {
  const told = (await takeEvents()).map(({ type, data }) => {
    const of = 'name' in data ? data.name : 'label' in data ? data.label : 'job_id' in data ? data.kind : '';
    return `${type} ${of ?? ''}`.trim();
  });
  expect(told).toEqual(wanted);
}

const takeTypes = async () => new Set((await takeEvents()).map(({ type }) => type));

const any = { expected_version: null };
const csv = (text: string, name: string, fields: Record<string, string> = {}) => {
  const form = new FormData();
  for (const [key, value] of Object.entries(fields)) form.set(key, value);
  form.set('file', new Blob([text]), name);
  return form;
};
const told = new Set<string>();

it('artifact.updated: every new version of a table', async () => {
  await send('POST', 'tables', { name: 't', columns: [{ name: 'a', type: 'BIGINT' }] });
  const edit = (await (await send('POST', 'tables/t/rows', { rows: [{ a: 1 }, { a: 2 }], ...any })).json()) as { op_id: number };
  await send('POST', `ops/${edit.op_id}/undo`);
  await send('POST', 'tables/t/rows', { rows: [{ a: 1 }, { a: 2 }], ...any });
  await send('POST', 'tables/t/columns', { column: 'b', type: 'BIGINT', ...any });
  await send('PATCH', 'tables/t/columns/b', { new_name: 'c', ...any });
  await send('PATCH', 'tables/t/columns/c', { type: 'VARCHAR', ...any });
  await send('PUT', 'tables/t/range', { range: 'A2', values: [[9]], ...any });
  await send('DELETE', 'tables/t/columns/c?expected_version=null');
  await send('DELETE', 'tables/t/rows/4?expected_version=null');
  await expectEvents(...Array<string>(10).fill('artifact.updated t'));
  await send('POST', 'artifacts/t/archive');
  await send('POST', 'artifacts/t/unarchive');
  await expectEvents('artifact.updated t', 'artifact.updated t');
});

it('artifact.stale: once, when something fresh goes stale; a run makes a version', async () => {
  await send('POST', 'transforms', { name: 'd', language: 'sql', template: 'SELECT a FROM {{ t }}', args: { t: 't' }, run: true });
  await expectEvents('artifact.updated d');
  await send('POST', 'tables/t/rows', { rows: [{ a: 5 }], ...any });
  await send('POST', 'tables/t/rows', { rows: [{ a: 6 }], ...any });
  await expectEvents('artifact.updated t', 'artifact.stale d', 'artifact.updated t');
  await send('POST', 'transforms/d/run', {});
  await expectEvents('artifact.updated d');
});

it('snapshot.committed: a snapshot or a version; going back makes versions', async () => {
  const { id } = (await (await send('POST', 'snapshots', { summary: 'a moment' })).json()) as { id: string };
  await send('POST', 'versions', { label: 'first' });
  await expectEvents('snapshot.committed', 'snapshot.committed first');
  await send('POST', 'tables/t/rows', { rows: [{ a: 7 }], ...any });
  await expectEvents('artifact.updated t', 'artifact.stale d');
  await send('POST', `snapshots/${id}/restore`, {});
  expect((await takeEvents()).map(({ type }) => type)).toContain('artifact.updated');
});

it('version.branched, version.merged and conflict.created: what is taken away and comes back changed', async () => {
  const exported = await send('POST', 'export', { tables: ['t'], format: 'csv', record_branch: true });
  await expectEvents('version.branched t');
  const returned = (await exported.text()).replace(/9/, '90');
  const branch = { branch_id: exported.headers.get('x-svc-branch-id') ?? '' };
  const { rows } = (await (await send('GET', 'tables/t/rows?limit=1')).json()) as { rows: { __svc_row_id: number }[] };
  await send('POST', 'tables/t/rows', { rows: [{ __svc_row_id: rows[0]?.__svc_row_id, a: 91 }], ...any });
  await send('POST', 'tables/t/merge', csv(returned, 't.csv', branch));
  const events = await takeEvents();
  expect(events.filter(({ type }) => type === 'conflict.created').length).toBe(1);
  expect(events.find(({ type }) => type === 'version.merged')?.data).toMatchObject({
    name: 't',
    branch_id: branch.branch_id,
    conflicts: 1,
  });
});

it('source.analyzed, source.materialized and job.completed: files', async () => {
  await send('POST', 'sources', csv('name,count\nx,1\ny,2\n', 'at once.csv', { structuring: 'skip' }));
  expect(await takeTypes()).toEqual(new Set(['artifact.updated', 'source.materialized']));
  const later = await send('POST', 'sources', csv('name,count\nx,3\ny,4\n', 'later.csv', { async: 'true' }));
  const { job_id } = (await later.json()) as { job_id: string };
  const isOver = async () =>
    ((await (await api.fetch(`/api/v1/jobs/${job_id}?wait=45`, { token: owner.session })).json()) as { status: string }).status;
  await expect.poll(isOver).toBe('succeeded');
  expect(await takeTypes()).toEqual(new Set(['artifact.updated', 'source.materialized', 'job.completed']));
  const source = encodeURIComponent('later.csv');
  await send('POST', `sources/${source}/analyze`, {});
  await expectEvents('source.analyzed later.csv');
});

it('artifact.deleted: a table, a sheet, a chart, what a transform makes', async () => {
  await send('PUT', 'sheets/s', { spec: { blocks: [{ kind: 'table_view', table: 't' }] } });
  await makeChart(api, owner.session, {
    workbookId: book,
    name: 'c',
    table: 't',
    config: { mark: 'bar', encoding: { x: { field: 'a' } } },
  });
  await expectEvents('artifact.updated s', 'artifact.updated c');
  const agent = await connect(api.url, owner.session);
  await agent.call('delete_chart', { workbook_id: book, name: 'c' });
  await agent.client.close();
  await send('DELETE', 'sheets/s');
  await send('DELETE', 'transforms/d?expected_version=null');
  await send('DELETE', 'tables/t?expected_version=null');
  await expectEvents('artifact.deleted c', 'artifact.deleted s', 'artifact.deleted d', 'artifact.deleted t');
  for (const { type } of await readEvents(owner.client, book)) told.add(type);
  expect(told).toEqual(new Set(eventKinds));
});
