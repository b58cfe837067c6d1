import { benchConsole } from './console.ts';
import { benchCounting } from './counting.ts';
import { benchDerive } from './derive.ts';
import { benchExport } from './export.ts';
import { benchFormats } from './formats.ts';
import { benchGoverned } from './governed.ts';
import { benchIngest } from './ingest.ts';
import { benchLoad } from './load.ts';
import { benchMcp } from './mcp.ts';
import { benchMe } from './me.ts';
import { benchMerge } from './merge.ts';
import { benchPython } from './python.ts';
import { benchQuery } from './query.ts';
import { benchRestarts } from './restarts.ts';
import { benchSandbox } from './sandbox.ts';
import { type BenchRig, withRig } from './services.ts';
import { benchTables } from './tables.ts';
import { benchWebhooks, webhookEnv } from './webhooks.ts';
import { benchWide } from './wide.ts';

/** `npm run bench [name…]`: each benchmark prints its figures beside a baseline measured in the same run. */
const benches: Record<string, (rig: BenchRig) => Promise<void>> = {
  me: benchMe,
  console: benchConsole,
  counting: benchCounting,
  derive: benchDerive,
  export: benchExport,
  formats: benchFormats,
  governed: benchGoverned,
  ingest: benchIngest,
  mcp: benchMcp,
  merge: benchMerge,
  query: benchQuery,
  sandbox: benchSandbox,
  tables: benchTables,
  webhooks: benchWebhooks,
  wide: benchWide,
};

/** Benchmarks that need Temporal and a worker. */
const withWorkflows = new Set(['console', 'derive', 'ingest', 'query', 'webhooks']);

/** Benchmarks that start all that they need. */
const alone: Record<string, () => Promise<void>> = { load: benchLoad, python: benchPython, restarts: benchRestarts };

const wanted = process.argv.slice(2);
const names = [...Object.keys(benches), ...Object.keys(alone)];
const unknown = wanted.filter((name) => !names.includes(name));
if (unknown.length > 0) {
  console.error(`There is no benchmark ${unknown.join(', ')}; there are ${names.join(', ')}.`);
  process.exit(1);
}
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`\n== ${name}`);
  await withRig(bench, { workflows: withWorkflows.has(name), env: name === 'webhooks' ? webhookEnv : {} });
}
for (const [name, bench] of Object.entries(alone)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`\n== ${name}`);
  await bench();
}
