import { openSandbox } from '../../store/duckdb/sandbox/sandbox.ts';

/** A service that is about to be killed: opens a sandbox in the given isolation, lets a query run, and never closes it. */
const [dir = '', isolation = 'any', path = ''] = process.argv.slice(2);
const sandbox = await openSandbox({ dir, isolation: isolation as 'any', searchPath: path.split(':'), processes: 2 });
const limits = { pageLimit: 10, timeoutMs: 60_000, maxRows: 10, maxBytes: 1000, keepResult: false };
void sandbox
  .run({ userId: 'a', sql: 'SELECT count(*) FROM range(1000000000000)', relations: [], pathOf: (key) => key, ...limits })
  .catch(() => {});
setTimeout(() => console.log('running'), 1_000);
setInterval(() => {}, 1_000);
