import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProduct, waitForOutput, waitForReady } from '../faults/product.ts';
import { findMissing } from './commands.ts';
import { type Generator, generators, type Workplace } from './generators.ts';

/**
 * `npm run clients [name…]`: six generators each make a client from the contract that a fresh service serves; the client is
 * compiled strictly and then uploads a file, adds a row and asks a question. Needs Java with Maven, Go and Python for all of
 * them; what is missing is said and left out.
 */

const sales = 'region,amount\nNorth,120\nSouth,80\nNorth,5\n';
const query = 'SELECT region, sum(amount) AS total FROM sales GROUP BY region ORDER BY region';
const expected = [
  { region: 'East', total: 40 },
  { region: 'North', total: 125 },
  { region: 'South', total: 80 },
];

const wanted = process.argv.slice(2);
const tools = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'workbook-data-service/clients');
await mkdir(tools, { recursive: true });
const folder = await mkdtemp(join(tmpdir(), 'svc-clients-'));
const product = await startProduct({ dataDir: join(folder, 'data'), temporalCli: process.env.TEMPORAL_CLI ?? '' });
let failed = 0;
try {
  await waitForOutput(product, 'The service is running.', 0, 600_000);
  await waitForReady(product);
  const contract = join(folder, 'openapi.yaml');
  await writeFile(contract, await (await fetch(`${product.apiUrl}/openapi.yaml`)).text());
  const token = (await readFile(join(product.dataDir, 'first-token'), 'utf8')).trim();
  const env = { SERVICE_URL: product.apiUrl, SERVICE_TOKEN: token, QUERY: query };
  for (const generator of generators) {
    if (wanted.length > 0 && !wanted.some((name) => generator.name.includes(name))) continue;
    const place = { folder: await mkdtemp(join(folder, 'client-')), contract, tools, env };
    console.log(`${generator.name}: ${await describeTry(generator, place)}`);
  }
} finally {
  product.child.kill('SIGTERM');
  await product.exited;
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = failed === 0 ? 0 : 1;

async function describeTry(generator: Generator, place: Workplace): Promise<string> {
  const missing = findMissing(generator.needs);
  if (missing.length > 0) return `SKIPPED, this machine lacks ${missing.join(', ')}`;
  try {
    await writeFile(join(place.folder, 'sales.csv'), sales);
    await generator.generate(place);
    await generator.compile(place);
    const printed = await generator.use(place);
    if (JSON.stringify(sortKeys(JSON.parse(printed))) !== JSON.stringify(expected)) throw new Error(`it printed ${printed}`);
    return 'generated, compiled, used';
  } catch (error) {
    failed += 1;
    return `FAILED\n${(error as Error).message}`;
  }
}

/** Some languages print the keys of an object in another order, and numbers that fit a double as texts. */
function sortKeys(rows: { region: string; total: number | string }[]): typeof expected {
  return rows.map(({ region, total }) => ({ region, total: Number(total) }));
}
