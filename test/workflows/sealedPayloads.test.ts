import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorker } from '../../activities/worker.ts';
import { ConfigError, loadConfig, type ServiceConfig } from '../../store/config.ts';
import type { Service } from '../../store/lifecycle.ts';
import { makeDataConverter } from '../../store/temporal/payloads.ts';
import { sealPayloads } from '../../store/temporal/sealPayloads.ts';
import { ok, type Person, startTestApi, type TestApi, type TestServer, testConfig } from '../setup/api.ts';
import { makeWorkbook } from '../setup/credentials.ts';
import { makeTable } from '../setup/tables.ts';
import { replayHistory } from './replay.ts';

/** Payloads of workflows, encrypted. */

const makeKey = (id: string) => ({ id, key: randomBytes(32) });
const asText = (keys: ReturnType<typeof makeKey>[]) => keys.map(({ id, key }) => `${id}:${key.toString('base64')}`).join(',');
const [older, newer] = [makeKey('2026-10'), makeKey('2026-11')];
const plain = [{ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('"ひみつ"') }];
const textOf = (payloads: { data?: Uint8Array | null }[]) => payloads.map(({ data }) => Buffer.from(data ?? []).toString());

describe('the codec', () => {
  it('gives back what it was given, and shows nothing of it', async () => {
    const codec = sealPayloads([newer]);
    const sealed = await codec.encode(plain);
    expect(Buffer.from(sealed[0]?.data ?? []).includes('ひみつ')).toBe(false);
    expect(Buffer.from(sealed[0]?.metadata?.['encryption-key-id'] ?? []).toString()).toBe('2026-11');
    expect(textOf(await codec.decode(sealed))).toEqual(['"ひみつ"']);
    expect(await codec.encode(plain)).not.toEqual(sealed);
  });

  it('reads what older keys and no key have written', async () => {
    const codec = sealPayloads([newer, older]);
    expect(textOf(await codec.decode(await sealPayloads([older]).encode(plain)))).toEqual(['"ひみつ"']);
    expect(textOf(await codec.decode(plain))).toEqual(['"ひみつ"']);
  });

  it('refuses what it has no key for, and what was changed', async () => {
    const sealed = await sealPayloads([older]).encode(plain);
    await expect(sealPayloads([newer]).decode(sealed)).rejects.toThrow('2026-10, which is not among SVC_TEMPORAL_KEYS');
    const data = Buffer.from(sealed[0]?.data ?? []);
    data[data.length - 1] = (data[data.length - 1] as number) ^ 1;
    await expect(sealPayloads([older]).decode([{ ...sealed[0], data }])).rejects.toThrow();
  });

  it('refuses large payloads as before', async () => {
    const [refuseLarge] = makeDataConverter({ keys: [newer] }).payloadCodecs ?? [];
    await expect(refuseLarge?.encode([{ data: Buffer.alloc(70_000) }])).rejects.toThrow(/pass an id/);
  });

  it.each([
    'nothing',
    'a:short',
    `a b:${older.key.toString('base64')}`,
    `${asText([older])},${asText([older])}`,
    asText([older]).slice(0, -4),
  ])('is not made from keys that are not right: %#', (text) => {
    expect(() => loadConfig({ SVC_TEMPORAL_KEYS: text })).toThrow(ConfigError);
    expect(() => loadConfig({ SVC_TEMPORAL_KEYS: text })).not.toThrow(older.key.toString('base64').slice(0, 20));
  });
});

describe('an installation', () => {
  let api: TestApi;
  let owner: Person;
  let workbookId: string;
  const workers: Service[] = [];

  beforeAll(async () => {
    api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
    owner = await api.signUp('Owner');
    workbookId = await makeWorkbook(owner.client, 'sealed');
  });
  afterAll(async () => {
    for (const worker of workers) await worker.stop();
    await api.stop();
  });

  const withKeys = (keys: ReturnType<typeof makeKey>[]): ServiceConfig => ({
    ...testConfig(api.config.databaseUrl, { SVC_RATE_LIMITS: 'off', ...(keys.length > 0 ? { SVC_TEMPORAL_KEYS: asText(keys) } : {}) }),
    dataDir: api.config.dataDir,
  });
  const work = async (keys: ReturnType<typeof makeKey>[]) => {
    const config = withKeys(keys);
    const worker = await startWorker({ ...config, temporal: { ...config.temporal, taskQueue: api.config.temporal.taskQueue } });
    workers.push(worker);
  };
  const rest = async () => {
    for (const worker of workers.splice(0)) await worker.stop();
  };
  const upload = async (server: Pick<TestServer, 'fetch'>, name: string, content: string) => {
    const form = new FormData();
    form.set('file', new Blob([content]), name);
    form.set('async', 'true');
    const answer = await server.fetch(`/api/v1/workbooks/${workbookId}/sources`, { method: 'POST', token: owner.session, body: form });
    expect(answer.status).toBe(202);
    return ((await answer.json()) as { job_id: string }).job_id;
  };
  /** A job whose activity fails with words of the user's data. */
  const failTransform = async (server: Pick<TestServer, 'fetch'>) => {
    await makeTable(owner.client, workbookId, 't', [{ name: 'a' }], [{ a: 'ひみつ' }]);
    const body = { name: 'broken', language: 'sql', template: 'SELECT CAST(a AS INTEGER) AS n FROM {{ t }}', args: { t: 't' }, run: true };
    const headers = { 'Content-Type': 'application/json' };
    const path = `/api/v1/workbooks/${workbookId}/transforms`;
    const answer = await server.fetch(path, { method: 'POST', token: owner.session, headers, body: JSON.stringify(body) });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    const { rows } = await api.sql.query<{ id: string }>("SELECT id FROM jobs WHERE kind = 'transform'");
    return rows[0]?.id as string;
  };
  const statusOf = async (jobId: string) =>
    ok(await owner.client.GET('/api/v1/jobs/{job_id}', { params: { path: { job_id: jobId } } })).status;
  const another = (keys: ReturnType<typeof makeKey>[]) =>
    api.another({ SVC_TEMPORAL_KEYS: asText(keys), TEMPORAL_TASK_QUEUE: api.config.temporal.taskQueue });

  /** As Temporal keeps it. */
  async function readRaw(jobId: string): Promise<Record<string, unknown>[]> {
    const { rows } = await api.sql.query<{ id: string }>('SELECT workflow_id AS id FROM jobs WHERE id = $1', [jobId]);
    const { client } = await api.services.temporal();
    const { history } = await client.workflowService.getWorkflowExecutionHistory({
      namespace: api.config.temporal.namespace,
      execution: { workflowId: rows[0]?.id as string },
    });
    return (history?.events ?? []) as Record<string, unknown>[];
  }

  interface FoundPayload {
    path: string;
    encoding: string;
    text: string;
  }
  function findPayloads(value: unknown, path = ''): FoundPayload[] {
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
    const { metadata, data } = value as { metadata?: Record<string, Uint8Array>; data?: Uint8Array };
    if (metadata?.encoding)
      return [{ path, encoding: Buffer.from(metadata.encoding).toString(), text: Buffer.from(data ?? []).toString() }];
    return Object.entries(value).flatMap(([name, part]) => findPayloads(part, `${path}.${name}`));
  }
  /** What the server must read: ids to search by, and a trace's id. What the SDK notes by itself: which change of the code was there. */
  const isOpen = ({ path, text }: FoundPayload) =>
    path.includes('.searchAttributes.') ||
    path.includes('.header.') ||
    (path.includes('.markerRecordedEventAttributes.') && /^\{"id":"[a-z ]+","deprecated":(true|false)\}$/.test(text));

  it('keeps nothing readable in histories, failures and summaries included', async () => {
    const server = await another([newer]);
    await work([newer]);
    const done = await upload(server, `ひみつ${'長'.repeat(200)}.csv`, '品目,金額\nりんご,120\n');
    await expect.poll(() => statusOf(done)).toBe('succeeded');
    const broken = await failTransform(server);
    expect(await statusOf(broken)).toBe('failed');
    for (const jobId of [done, broken]) {
      const events = await readRaw(jobId);
      const payloads = findPayloads(events).filter((payload) => !isOpen(payload));
      expect(payloads.length).toBeGreaterThan(4);
      expect(new Set(payloads.map(({ encoding }) => encoding))).toEqual(new Set(['binary/encrypted']));
      const text = JSON.stringify(events, (_, value) => (value instanceof Uint8Array ? Buffer.from(value).toString() : value));
      expect(text).not.toContain('ひみつ');
      expect(text).not.toMatch(/"stackTrace":"[^"]/);
      for (const [, message] of text.matchAll(/"message":"([^"]+)"/g)) expect(message).toBe('Encoded failure');
    }
    await rest();
  });

  it('goes on with workflows that began without keys, and with older ones', async () => {
    const unsealed = await upload(api, 'plain.csv', 'a,b\n1,2\n');
    const old = await upload(await another([older]), 'old.csv', 'a,b\n3,4\n');
    expect(findPayloads(await readRaw(unsealed)).some(({ encoding }) => encoding === 'json/plain')).toBe(true);
    await work([newer, older]);
    await expect.poll(() => Promise.all([statusOf(unsealed), statusOf(old)])).toEqual(['succeeded', 'succeeded']);
    const keyIds = new Set((await readRaw(old)).flatMap((event) => JSON.stringify(event).match(/encryption-key-id/g) ?? []));
    expect(keyIds.size).toBe(1);
    await rest();
  });
});

it.each(['ingest', 'ingestFallenBack', 'transformRefused', 'recomputeCancelled'])('replays %s as it ran without keys', async (name) => {
  await replayHistory(name, undefined, { sealed: true });
});
