import { setMaxListeners } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { makeBook } from '../xlsx/makeWorkbook.ts';
import { type Attack, count, type Outcome } from './attack.ts';
import { fileForm, type Person, type World } from './world.ts';

/** Ways to make the API take memory. Whatever is asked, it takes less than 1 GB. */

const mib = 1024 * 1024;
const formats = ['json', 'ndjson', 'csv', 'arrow', 'parquet'];

interface Asked {
  path: string;
  /** Whether the answer is read, or left where it is. */
  isRead: boolean;
  body?: Buffer;
  /** The body ends here and is not ended. */
  isStalled?: boolean;
}

type Prepare = (attacker: Person) => Promise<void>;

/** The same requests many times at once, over the tables that `prepare` makes. */
function askMany(name: string, times: number, prepare: Prepare, ask: (attacker: Person, place: number) => Asked | Promise<Asked>): Attack {
  return {
    name: `${times} ${name}`,
    habits: ['read', 'write'],
    // One person could not ask so often.
    env: { SVC_RATE_LIMITS: 'off' },
    seconds: { short: 10, full: 60 },
    async prepare(world, attacker, size) {
      await prepareOnce(attacker, prepare);
      const asked = await Promise.all(
        Array.from({ length: size === 'full' ? times : Math.min(times, 12) }, (_, place) => ask(attacker, place)),
      );
      return async (signal) => {
        const outcome: Outcome = new Map();
        setMaxListeners(times, signal);
        await Promise.all(asked.map(async (each) => count(outcome, await send(world, attacker, each, signal))));
        return outcome;
      };
    },
  };
}

const prepared = new WeakMap<Person, Set<Prepare>>();

async function prepareOnce(attacker: Person, prepare: Prepare): Promise<void> {
  const done = prepared.get(attacker) ?? new Set();
  prepared.set(attacker, done);
  if (!done.has(prepare)) await prepare(attacker);
  done.add(prepare);
}

const unreadMs = 5_000;

/** The answer's status, or what the connection said. Connections end with the attack. */
function send({ product }: World, attacker: Person, asked: Asked, signal: AbortSignal): Promise<string> {
  const { path, isRead, body, isStalled } = asked;
  const headers = {
    Authorization: `Bearer ${attacker.session}`,
    ...(body ? { 'Content-Type': 'application/json', 'Content-Length': String(body.length + (isStalled ? 100 : 0)) } : {}),
  };
  return new Promise((resolve) => {
    const outgoing = request(`${product.apiUrl}${path}`, {
      method: body ? 'POST' : 'GET',
      localAddress: attacker.address,
      agent: false,
      headers,
    });
    const end = (what: string) => {
      outgoing.destroy();
      resolve(what);
    };
    signal.addEventListener('abort', () => end('left'), { once: true });
    if (isStalled) void delay(unreadMs).then(() => end('stalled'));
    outgoing.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
    outgoing.on('response', (answer: IncomingMessage) => {
      const status = String(answer.statusCode);
      answer.on('error', () => end(`${status} cut`));
      if (!isRead && status === '200') void delay(unreadMs).then(() => end(status));
      else answer.resume().on('end', () => end(status));
    });
    if (body) outgoing.write(body);
    if (!isStalled) outgoing.end();
  });
}

const tables = ({ workbookId }: Person) => `/api/v1/workbooks/${workbookId}/tables`;
const long = (attacker: Person) => `${tables(attacker)}/long`;
const filled = (attacker: Person) => `${tables(attacker)}/filled`;
const page = (attacker: Person) => `${long(attacker)}/rows?limit=10000`;

async function post(person: Person, path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await person.send('POST', path, body);
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.body}`);
  return answer.json();
}

/** 200 MB in 10,000 rows; the first has a long history. */
async function makeLong(attacker: Person): Promise<void> {
  const columns = [
    { name: 't', type: 'VARCHAR' },
    { name: 'n', type: 'BIGINT' },
  ];
  await post(attacker, tables(attacker), { name: 'long', columns });
  const upsert = (rows: object[]) => post(attacker, `${long(attacker)}/rows`, { expected_version: null, rows });
  for (let first = 0; first < 10_000; first += 1_000)
    await upsert(Array.from({ length: 1_000 }, (_, i) => ({ t: `${first + i} `.padEnd(20_000, 'long text '), n: first + i })));
  for (let n = 0; n < 10; n += 1) await upsert([{ __svc_row_id: 1, t: String(n).repeat(mib) }]);
}

/** A long value that is stored once and shown in 10,000 rows. */
async function makeFilled(attacker: Person): Promise<void> {
  await post(attacker, tables(attacker), { name: 'filled', columns: [{ name: 'n', type: 'BIGINT' }] });
  await post(attacker, `${filled(attacker)}/rows`, { expected_version: null, rows: Array.from({ length: 10_000 }, (_, n) => ({ n })) });
  await post(attacker, `${filled(attacker)}/columns`, { expected_version: null, column: 't', default: 'x'.repeat(32_000) });
}

const plain = (attacker: Person) => `${tables(attacker)}/plain`;

async function makePlain(attacker: Person): Promise<void> {
  await post(attacker, tables(attacker), { name: 'plain', columns: [{ name: 't', type: 'VARCHAR' }] });
}

/** A file of some kB whose preview would hold 500 MB. */
async function makeUpload(attacker: Person): Promise<void> {
  const cells = Array.from({ length: 50 }, () => '<c t="s"><v>0</v></c>').join('');
  const { body, headers } = fileForm(
    'book.xlsx',
    makeBook({ strings: `<si><t>${'x'.repeat(100_000)}</t></si>`, sheets: [`<row>${cells}</row>`.repeat(100)] }),
  );
  const answer = await attacker.send('POST', `/api/v1/workbooks/${attacker.workbookId}/sources`, body, headers);
  if (answer.status >= 300) throw new Error(`the upload: ${answer.status} ${answer.body}`);
}

const preview = ({ workbookId }: Person) => `/api/v1/workbooks/${workbookId}/sources/book.xlsx/preview`;

/** Bodies just under 32 MiB. */
const bodies = {
  text: () => ({ rows: Array.from({ length: 1_600 }, () => ({ t: 'x'.repeat(20_000) })) }),
  Japanese: () => ({ rows: Array.from({ length: 1_000 }, () => ({ t: '長'.repeat(10_000) })) }),
  numbers: () => ({ rows: [], values: new Array(15_000_000).fill(1) }),
  'empty objects': () => ({ rows: new Array(10_000_000).fill({}) }),
};

const reads = (name: string, times: number, prepare: Prepare, path: (attacker: Person, place: number) => string, isRead = true) =>
  askMany(name, times, prepare, (attacker, place) => ({ path: path(attacker, place), isRead }));

const results = new WeakMap<Person, Promise<string>>();

/** The id of a result of 100 MB. */
function queryOnce(attacker: Person): Promise<string> {
  const known = results.get(attacker);
  if (known) return known;
  const body = { sql: 'SELECT * FROM long LIMIT 5000', limit: 1 };
  const made = post(attacker, `/api/v1/workbooks/${attacker.workbookId}/query`, body).then(({ id }) => String(id));
  results.set(attacker, made);
  return made;
}

export const memoryAttacks: Attack[] = [
  reads('pages of 10,000 rows that nobody reads', 64, makeLong, page, false),
  reads('pages of 10,000 rows', 64, makeLong, (attacker, i) => `${page(attacker)}&format=${formats[i % formats.length]}`),
  reads('sorted pages of 10,000 rows', 64, makeLong, (attacker) => `${page(attacker)}&sort=t:desc`),
  reads('filtered pages of 10,000 rows', 64, makeLong, (attacker) => `${page(attacker)}&filter=n+%3E%3D+0`),
  reads('pages of a long default', 64, makeFilled, (attacker) => `${filled(attacker)}/rows?limit=5000`),
  reads('whole tables with a long default', 16, makeFilled, (attacker) => `${filled(attacker)}/data?format=csv`, false),
  reads(
    'whole tables that nobody reads',
    64,
    makeLong,
    (attacker, i) => `${long(attacker)}/data?format=${formats[i % formats.length]}`,
    false,
  ),
  reads('whole tables', 16, makeLong, (attacker, i) => `${long(attacker)}/data?format=${formats[i % formats.length]}`),
  reads('ranges of 14 MB', 64, makeLong, (attacker) => `${long(attacker)}/range?range=A1:B700`),
  reads('ranges of 200 MB', 64, makeLong, (attacker) => `${long(attacker)}/range?range=A1:B10001`),
  reads('differences', 64, makeLong, (attacker) => `${long(attacker)}/diff?from=1&limit=700`),
  reads('histories', 64, makeLong, (attacker) => `${long(attacker)}/rows/1/history?limit=100`),
  reads('previews', 60, makeUpload, preview),
  askMany('results', 64, makeLong, async (attacker, place) => ({
    path: `/api/v1/results/${await queryOnce(attacker)}?limit=5000&format=${formats[place % formats.length]}`,
    isRead: true,
  })),
  askMany('queries with long pages', 64, makeLong, ({ workbookId }) => ({
    path: `/api/v1/workbooks/${workbookId}/query`,
    isRead: true,
    body: Buffer.from(JSON.stringify({ sql: 'SELECT * FROM long', limit: 1_500 })),
  })),
  askMany('edits of 3,000 long rows', 64, makeLong, (attacker) => ({
    path: `${long(attacker)}/rows`,
    isRead: true,
    body: Buffer.from(
      JSON.stringify({ expected_version: null, rows: Array.from({ length: 3_000 }, (_, i) => ({ __svc_row_id: i + 1, n: 0 })) }),
    ),
  })),
  ...Object.entries(bodies).map(([what, make]) => {
    let body: Buffer | undefined;
    return askMany(`bodies of 32 MiB of ${what}`, 64, makePlain, (attacker) => {
      body ??= Buffer.from(JSON.stringify({ expected_version: null, ...make() }));
      return { path: `${plain(attacker)}/rows`, isRead: true, body };
    });
  }),
  askMany('bodies that stop before their end', 64, makePlain, (attacker) => ({
    path: `${plain(attacker)}/rows`,
    isRead: true,
    body: Buffer.from(`{"rows": [{"t": "${'x'.repeat(30 * mib)}`),
    isStalled: true,
  })),
];
