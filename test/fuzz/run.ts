import { spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import createClient from 'openapi-fetch';
import type { paths } from '../../schema/contract.ts';
import { projectDir } from '../../store/config.ts';
import { findMissing, run } from '../clients/commands.ts';
import { startProduct, waitForOutput, waitForReady } from '../faults/product.ts';

/**
 * `npm run fuzz [examples]`: generated requests against every operation of a fresh service, by schemathesis. It reports server
 * errors, statuses, headers, media types and bodies that the contract does not declare, and bad requests that were taken.
 */

const version = '4.32.5';
const examples = process.argv[2] ?? '25';

/** They end what the other operations need. They are tried with ids that name nothing. */
const destructive = ['logOut', 'closeConsoleSession', 'deleteWorkbook', 'deleteWorkspace', 'deleteTable'];
/** What must not happen, whatever is sent. Whether a good request is taken depends on more than its form. */
const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'missing_required_header',
  'unsupported_method',
  'ignored_auth',
].join(',');
/** Tried with ids that name nothing, because ids given in advance replace the bad ones. The form is checked before the ids. */
const unknownChecks = `${checks},negative_data_rejection`;

if (findMissing(['python3']).length > 0) {
  console.log('SKIPPED: this machine lacks python3');
  process.exit(0);
}
const home = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'workbook-data-service/fuzz');
await mkdir(home, { recursive: true });
await run('sh', ['-c', `test -x '${home}/bin/pip' || python3 -m venv '${home}'`], {});
await run(join(home, 'bin/pip'), ['install', '-q', `schemathesis==${version}`], {});

const folder = await mkdtemp(join(tmpdir(), 'svc-fuzz-'));
const env = { SVC_RATE_LIMITS: 'off' };
const product = await startProduct({ dataDir: join(folder, 'data'), temporalCli: process.env.TEMPORAL_CLI ?? '', env });
try {
  await waitForOutput(product, 'The service is running.', 0, 600_000);
  await waitForReady(product);
  const { token, parameters } = await makeWorld(product.apiUrl);
  const lines = Object.entries(parameters).map(([name, value]) => `"path.${name}" = ${JSON.stringify(value)}`);
  await writeFile(join(folder, 'known.toml'), `[parameters]\n${lines.join('\n')}\n`);
  // A header or an address that is too large is refused before its parts are looked at.
  const refusals = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429];
  await writeFile(join(folder, 'unknown.toml'), `[checks.negative_data_rejection]\nexpected-statuses = ${JSON.stringify(refusals)}\n`);
  await copyFile(join(projectDir, 'test/fuzz/serializers.py'), join(folder, 'serializers.py'));
  const excluded = destructive.flatMap((id) => ['--exclude-operation-id', id]);
  const ending = ['--exclude-operation-id', 'logOut', '--exclude-operation-id', 'closeConsoleSession'];
  const codes = [await fuzz('known.toml', token, checks, excluded), await fuzz('unknown.toml', token, unknownChecks, ending)];
  process.exitCode = codes.some((code) => code !== 0) ? 1 : 0;
} finally {
  product.child.kill('SIGTERM');
  await product.exited;
  await rm(folder, { recursive: true, force: true });
}

/** A person with a workbook and a table, so that requests reach something. */
async function makeWorld(baseUrl: string) {
  const visitor = createClient<paths>({ baseUrl });
  const person = { email: 'fuzz@example.com', password: 'correct horse battery staple 4711' };
  await visitor.POST('/api/auth/signup', { body: person });
  const session = (await visitor.POST('/api/auth/login', { body: person })).data;
  if (!session) throw new Error('nobody could log in');
  const token = session.session_token;
  const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });
  const workbook = (await client.POST('/api/v1/workbooks', { body: { title: 'Fuzz' } })).data;
  if (!workbook) throw new Error('no workbook could be made');
  const path = { workbook_id: workbook.id };
  await client.POST('/api/v1/workbooks/{workbook_id}/tables', {
    params: { path },
    body: { name: 'sales', columns: [{ name: 'region' }, { name: 'amount', type: 'BIGINT' }] },
  });
  await client.POST('/api/v1/workbooks/{workbook_id}/tables/{name}/rows', {
    params: { path: { ...path, name: 'sales' } },
    body: { expected_version: null, rows: [{ region: 'North', amount: 120 }] },
  });
  return { token, parameters: { workbook_id: workbook.id, workspace_id: workbook.workspace_id, name: 'sales', column: 'amount' } };
}

function fuzz(config: string, token: string, wanted: string, operations: string[]): Promise<number | null> {
  const args = [
    '--config-file',
    config,
    'run',
    `${product.apiUrl}/openapi.json`,
    '--checks',
    wanted,
    '--phases',
    'examples,coverage,fuzzing',
  ];
  const limits = ['--max-examples', examples, '--workers', '2', '--continue-on-failure', '--suppress-health-check', 'all', '--no-shrink'];
  const child = spawn(
    join(home, 'bin/schemathesis'),
    [...args, ...limits, '-H', `Authorization: Bearer ${token}`, '--warnings', 'off', ...operations],
    { cwd: folder, stdio: 'inherit', env: { ...process.env, SCHEMATHESIS_HOOKS: 'serializers', PYTHONPATH: folder } },
  );
  return new Promise((done) => child.once('close', done));
}
