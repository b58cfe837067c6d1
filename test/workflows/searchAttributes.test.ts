import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startWorker } from '../../activities/worker.ts';
import { createProcessRegistry, type ProcessRegistry } from '../../scripts/embedded/processRegistry.ts';
import type { RunningProcess } from '../../scripts/embedded/runningProcess.ts';
import { type RunningTemporal, startTemporal } from '../../scripts/embedded/temporal.ts';
import { openServices } from '../../store/services.ts';
import { type Operator, registerAttributes } from '../../store/temporal/registerAttributes.ts';
import { searchAttributeNames } from '../../store/temporal/searchAttributes.ts';
import { createTestDatabase, testConfig } from '../setup/api.ts';
import { quietTemporal } from '../setup/quietTemporal.ts';

/** Against a Temporal of its own that does not know our search attributes, as somebody's server would not. */

let registry: ProcessRegistry;
let reaper: RunningProcess;
let temporal: RunningTemporal;
let database: { url: string; drop(): Promise<void> };
let connection: Connection;

beforeAll(async () => {
  quietTemporal();
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-test-attributes-'));
  registry = createProcessRegistry(null);
  registry.removeAtEnd(dataDir);
  reaper = await registry.startReaper();
  const report = { say() {}, progress() {}, done() {}, warn() {} } as never;
  const program = inject('temporalCli');
  temporal = await startTemporal({ program, dataDir, uiPort: null, namespace: 'default', searchAttributes: [], report, registry });
  database = await createTestDatabase();
  connection = await Connection.connect({ address: temporal.address });
});
afterAll(async () => {
  await connection.close();
  await database.drop();
  await temporal.stop();
  await reaper.stop();
});

const listKnown = async () =>
  Object.keys((await connection.operatorService.listSearchAttributes({ namespace: 'default' })).customAttributes ?? {}).filter((name) =>
    name.startsWith('Svc'),
  );

function collect() {
  const lines: [string, Record<string, unknown>, string][] = [];
  const note = (level: string) => (fields: unknown, text: string) => lines.push([level, fields as Record<string, unknown>, text]);
  return { lines, log: { info: note('info'), warn: note('warn') } as never };
}

describe.runIf(inject('temporalCli') !== '')('search attributes', () => {
  it('are registered by many processes that connect at once, and a worker’s schedules carry them', async () => {
    expect(await listKnown()).toEqual([]);
    const config = testConfig(database.url, { TEMPORAL_ADDRESS: temporal.address });
    const several = await Promise.all(Array.from({ length: 3 }, () => openServices(config, 'api')));
    await Promise.all(several.map((services) => services.temporal()));
    expect((await listKnown()).sort()).toEqual([...searchAttributeNames].sort());
    const worker = await startWorker(config);
    const { client } = await (several[0] as (typeof several)[number]).temporal();
    const handle = await client.workflow.start('expireThings', {
      workflowId: 'attributed',
      taskQueue: config.temporal.taskQueue,
      searchAttributes: { SvcKind: ['maintenance'], SvcWorkbook: ['wb_1'], SvcAccount: ['acc_1'] },
    });
    await handle.result();
    await expect.poll(async () => (await client.workflow.count("SvcWorkbook = 'wb_1'")).count).toBe(1);
    await worker.stop();
    await Promise.all(several.map((services) => services.close()));
  });

  it('are left alone once they are there', async () => {
    const { lines, log } = collect();
    expect(await registerAttributes(connection, 'default', log)).toBe('known');
    expect(lines).toEqual([]);
  });

  it('are asked for plainly where the server does not let us', async () => {
    const { lines, log } = collect();
    const refusal = Object.assign(new Error('7 PERMISSION_DENIED: Request unauthorized.'), {
      code: 7,
      details: 'Request unauthorized.',
      metadata: {},
    });
    const closed = {
      operatorService: { listSearchAttributes: () => Promise.reject(refusal) },
      withDeadline: (_: unknown, call: () => Promise<unknown>) => call(),
    } as unknown as Operator;
    expect(await registerAttributes(closed, 'default', log)).toBe('refused');
    expect(lines).toMatchObject([
      ['warn', { attributes: searchAttributeNames, reason: 'Request unauthorized.' }, expect.stringContaining('register them as Keyword')],
    ]);
  });

  it('are asked for plainly where the namespace is not known', async () => {
    const { lines, log } = collect();
    expect(await registerAttributes(connection, 'nowhere', log)).toBe('refused');
    expect(lines).toHaveLength(1);
  });
});
