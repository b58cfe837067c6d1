import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProvidedContext } from 'vitest';
import type { TestProject } from 'vitest/node';
import { ensureBubblewrap } from '../../scripts/embedded/bubblewrap.ts';
import { startPostgres } from '../../scripts/embedded/postgres.ts';
import { createProcessRegistry } from '../../scripts/embedded/processRegistry.ts';
import { setUpPython } from '../../scripts/embedded/python.ts';
import { createReport } from '../../scripts/embedded/report.ts';
import { findTemporal, startTemporal } from '../../scripts/embedded/temporal.ts';
import { prepareProgram } from '../../store/builds/programs.mjs';
import { prepareChartBundle } from '../../store/charts/program.ts';
import { loadConfig } from '../../store/config.ts';
import { prepareChildBundle } from '../../store/duckdb/sandbox/program.ts';
import { prepareFileBundle } from '../../store/fileProcesses/program.ts';
import { prepareWorkflowBundle } from '../../store/temporal/bundle.ts';
import { searchAttributeNames } from '../../store/temporal/searchAttributes.ts';
import { createTemplate } from './database.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Of a role that may create databases, so that each test file can have its own. */
    postgresUrl: string;
    /** A migrated database without rows, for others to be copied from. */
    templateUrl: string;
    temporalAddress: string;
    /** A folder for what the services under test keep; it goes with the run. */
    dataDir: string;
    /** Temporal's program; empty when TEMPORAL_ADDRESS stands in for it. */
    temporalCli: string;
  }
}

/** Nothing here outlives the run, so nothing needs to survive a power cut. */
const fastSettings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

interface StartedServices extends ProvidedContext {
  stop(): Promise<void>;
}

/** Each project of the configuration loads this file anew, but all of them use what the first has started. */
const shared = globalThis as { testServices?: { started: Promise<StartedServices>; users: number } };

export default async function useServices(project: TestProject): Promise<() => Promise<void>> {
  shared.testServices ??= { started: startServices(), users: 0 };
  const own = shared.testServices;
  own.users += 1;
  const { stop, ...provided } = await own.started;
  for (const [name, value] of Object.entries(provided)) project.provide(name as keyof ProvidedContext, value);
  return async () => {
    own.users -= 1;
    if (own.users > 0) return;
    delete shared.testServices;
    await stop();
  };
}

/** One PostgreSQL and one Temporal for all tests, in a folder that is removed, however the run ends. */
async function startServices(): Promise<StartedServices> {
  const config = loadConfig();
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-test-services-'));
  const report = createReport(process.stderr);
  const registry = createProcessRegistry(null);
  registry.removeAtEnd(dataDir);
  const reaper = await registry.startReaper();
  const stopAll = async () => {
    await postgres.template.drop();
    await Promise.all([postgres.running?.stop(), temporal?.stop()]);
    // It removes the folder as well.
    await reaper.stop();
    await rm(dataDir, { recursive: true, force: true });
  };

  const preparePostgres = async () => {
    const running = config.databaseUrl ? null : await startPostgres({ dataDir, report, registry, settings: fastSettings });
    const url = running?.url ?? config.databaseUrl ?? '';
    return { running, url, template: await createTemplate(url) };
  };
  const startOwnTemporal = async () => {
    const program = await findTemporal({ config, report, registry });
    const running = await startTemporal({
      program,
      dataDir,
      uiPort: null,
      namespace: config.temporal.namespace,
      searchAttributes: searchAttributeNames,
      report,
      registry,
    });
    return { ...running, program };
  };
  const [postgres, temporal] = await Promise.all([
    preparePostgres(),
    config.temporal.address ? null : startOwnTemporal(),
    ensureBubblewrap({ report, registry, searchPath: config.machine.searchPath }),
    // Once, and not by the first tests that need them, at the same time.
    prepareWorkflowBundle(),
    prepareChildBundle(),
    prepareFileBundle(),
    prepareChartBundle(),
    prepareProgram('api'),
    setUpPython({ config, report, registry }),
  ]);
  return {
    postgresUrl: postgres.url,
    templateUrl: postgres.template.url,
    dataDir: join(dataDir, 'data'),
    temporalAddress: temporal?.address ?? config.temporal.address ?? '',
    temporalCli: temporal?.program ?? config.temporal.cliPath ?? '',
    stop: stopAll,
  };
}
