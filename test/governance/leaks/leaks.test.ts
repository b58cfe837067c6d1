import { afterAll, expect, it } from 'vitest';
import { loadContract, type Operation, type OperationId } from '../../../api/http/contract.ts';
import { connect } from '../../mcp/client.ts';
import { findNames, findValues, readableText } from './canaries.ts';
import { askTool } from './tools.ts';
import { type Asked, askOther, askReader, mayName, saysName, silent } from './walk.ts';
import { type Caller, openLeakWorld } from './world.ts';

/**
 * Asks everything that the contract can be asked, as every kind of caller, for values that stand in a denied or a masked column,
 * and for the names of denied ones. Readers join by themselves: an operation that this does not know how to ask fails here.
 */

const world = await openLeakWorld();
afterAll(() => world.stop());
const operations = (await loadContract()).operations;
const readers = operations.filter(({ method }) => method === 'get');
const others = operations.filter(({ method, id }) => method !== 'get' && !silent.has(id));

interface Told {
  asked: Asked;
  status: number;
  values: string[];
  names: string[];
}

async function ask({ token }: Caller, asked: Asked): Promise<Told> {
  const { path, method, body, form, accept } = asked;
  if (asked.id === 'listEvents' && accept === 'text/event-stream') return readStream(token, asked);
  const sent = form ? { body: makeReturned(form) } : body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await world.server.fetch(path, {
    method,
    ...(token === null ? {} : { token }),
    headers: { ...(accept ? { Accept: accept } : {}), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...sent,
  });
  const text = await readableText(world.api.services, Buffer.from(await answer.arrayBuffer()));
  const said = `${JSON.stringify([...answer.headers])}\n${text}`;
  return { asked, status: answer.status, values: findValues(said), names: saysName(asked) ? [] : findNames(said) };
}

/** What the stream of events has for the caller so far; it goes on until it is left. */
async function readStream(token: string | null, asked: Asked): Promise<Told> {
  const leave = new AbortController();
  const headers = { Accept: 'text/event-stream', ...(token === null ? {} : { Authorization: `Bearer ${token}` }) };
  const answer = await fetch(`${world.url}${asked.path}`, { headers, signal: leave.signal });
  let text = '';
  for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece;
    if (text.includes(': nothing new')) break;
  }
  leave.abort();
  return { asked, status: answer.status, values: findValues(text), names: saysName(asked) ? [] : findNames(text) };
}

function makeReturned(fields: Record<string, string>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('file', new Blob(['__svc_row_id,person\n1,somebody\n']), 'made.csv');
  return form;
}

async function askAll(caller: Caller, all: Iterable<Asked>): Promise<Told[]> {
  const told: Told[] = [];
  const left = all[Symbol.iterator]();
  const work = async () => {
    for (let next = left.next(); !next.done; next = left.next()) told.push(await ask(caller, next.value));
  };
  await Promise.all([work(), work(), work()]);
  return told;
}

/** What somebody was told that is not theirs, one line each. */
function listLeaks({ configures = false }: Caller, told: Told[]): string[] {
  return told.flatMap(({ asked: { id, method, path, body }, status, values, names }) => {
    const leaked = [...values, ...(configures && mayName.has(id) ? [] : names)];
    const line = `${id} ${method} ${decodeURIComponent(path)} ${JSON.stringify(body ?? '')} ${status}: ${leaked.join(' ')}`;
    return leaked.length > 0 ? [line] : [];
  });
}

function* walkReaders(caller: Caller, brief: boolean): Generator<Asked> {
  for (const operation of readers) yield* askReader(operation as Operation, world, caller, brief);
}

function* walkOthers(): Generator<Asked> {
  for (const operation of others) yield* askOther(operation, world) ?? [];
}

it('asks every operation of the contract', () => {
  const unknown = others.filter((operation) => askOther(operation, world) === null).map(({ id }) => id);
  expect(unknown).toEqual([]);
});

it('finds what it looks for where somebody may see it', async () => {
  const [payroll] = world.callers;
  const told = await askAll(payroll as Caller, walkReaders(payroll as Caller, true));
  const finding = new Set(told.filter(({ values }) => values.length > 0).map(({ asked }) => asked.id));
  const expected: OperationId[] = ['readRows', 'readRow', 'readTableData', 'readRange', 'getRowHistory', 'diffTable', 'profileTable'];
  expect([...finding]).toEqual(expect.arrayContaining([...expected, 'listConflicts', 'listAnnotations', 'renderSheet', 'getResult']));
}, 300_000);

const asWhole = new Set(['owner', 'viewer']);

it.each(world.callers.filter(({ seesAll }) => !seesAll))(
  'tells $name nothing by reading',
  async (caller) => {
    const told = await askAll(caller, walkReaders(caller, !asWhole.has(caller.name)));
    expect(told.filter(({ status }) => status >= 500).map(({ asked, status }) => `${status} ${asked.path}`)).toEqual([]);
    expect(listLeaks(caller, told)).toEqual([]);
  },
  600_000,
);

it.each(world.callers.filter(({ name }) => ['owner', 'editor', 'viewer'].includes(name)))(
  'tells $name nothing by doing',
  async (caller) => {
    const told = await askAll(caller, walkOthers());
    expect(told.filter(({ status }) => status >= 500).map(({ asked, status }) => `${status} ${asked.path}`)).toEqual([]);
    expect(listLeaks(caller, told)).toEqual([]);
  },
  600_000,
);

it.each(world.callers.filter(({ token, seesAll }) => token && !seesAll))(
  'tells the agents of $name nothing',
  async (caller) => {
    const { client } = await connect(world.url, caller.token as string);
    const said: string[] = [];
    const keep = (what: string, answer: unknown) => said.push(`${what}: ${JSON.stringify(answer)}`);
    for (const { name, inputSchema } of (await client.listTools()).tools)
      for (const given of askTool(name, inputSchema, world, caller))
        keep(`${name} ${JSON.stringify(given)}`, await client.callTool({ name, arguments: given }));
    for (const { uri } of (await client.listResources()).resources) keep(uri, await client.readResource({ uri }));
    await client.close();
    expect(said.filter((text) => findValues(text).length > 0 || findNames(text).length > 0)).toEqual([]);
  },
  300_000,
);

it('writes nothing of it to logs, metrics or traces', async () => {
  const metrics = await (await world.server.fetch('/metrics')).text();
  for (const text of [world.logs(), metrics, world.traces()]) {
    expect(findValues(text)).toEqual([]);
    expect(findNames(text)).toEqual([]);
  }
  expect(world.logs()).toContain('"level"');
  for (const span of ['readRows', 'RunActivity:prepareTables', 'db.query.text']) expect(world.traces()).toContain(span);
});

it('tells Temporal nothing of it', async () => {
  const temporal = await world.api.services.temporal();
  const query = `TaskQueue = '${world.api.config.temporal.taskQueue}'`;
  let histories = 0;
  for await (const { workflowId, runId } of temporal.client.workflow.list({ query })) {
    const history = await temporal.client.workflow.getHandle(workflowId, runId).fetchHistory();
    const text = JSON.stringify(history, (_, value) =>
      value?.type === 'Buffer' || value instanceof Uint8Array ? Buffer.from(value.data ?? value).toString() : value,
    );
    histories += 1;
    expect([workflowId, findValues(text), findNames(text)]).toEqual([workflowId, [], []]);
  }
  expect(histories).toBeGreaterThan(1);
});
