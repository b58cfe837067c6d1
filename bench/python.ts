import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DuckDBInstance } from '@duckdb/node-api';
import { createProcessRegistry } from '../scripts/embedded/processRegistry.ts';
import { setUpPython } from '../scripts/embedded/python.ts';
import { createReport } from '../scripts/embedded/report.ts';
import { listCacheDirs, loadConfig } from '../store/config.ts';
import { streamRows } from '../store/duckdb/formats/streamRows.ts';
import { openPython } from '../store/python/openPython.ts';
import { findPackages, findPython } from '../store/python/pythonPackages.ts';
import { childDir } from '../store/python/pythonProgram.ts';
import { compareInTurn, report, timeMs } from './measure.ts';

const runs = 50;
const wantedMs = 200;

const template = 'def transform(t):\n    return t.groupby("k", as_index=False)["n"].sum()';

/** What a run costs beside Python itself: one process with pandas loaded, which runs the same template without any isolation. */
export async function benchPython(): Promise<void> {
  const config = loadConfig();
  const { searchPath } = config.machine;
  const cacheDirs = listCacheDirs(config);
  await setUpPython({ config, report: createReport(process.stderr), registry: createProcessRegistry(null) });
  const place = await findPython(searchPath, cacheDirs);
  const packages = place && findPackages(place);
  if (!packages) return console.log('Python is not set up here.');

  const dir = await mkdtemp(join(tmpdir(), 'svc-bench-'));
  const options = { dir: join(dir, 'processes'), searchPath, cacheDirs, processes: 1, timeoutMs: 60_000, memoryBytes: 1024 ** 3 };
  let python = await openPython(options);
  await python.close();
  const openMs = await timeMs(async () => {
    python = await openPython(options);
  });
  console.log(`until the first run: ${openMs.toFixed(0)} ms`);
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const bare = startBare(place.python, packages);
  for (const rows of [100, 100_000, 1_000_000]) {
    const path = join(dir, `${rows}.arrow`);
    const sql = `SELECT i::BIGINT AS n, 'k' || i % 100 AS k, i / 7 AS x FROM range(${rows}) t(i)`;
    await writeFile(path, streamRows(connection, sql, undefined, 'arrow'));
    const limits = { maxRows: 1_000_000, maxBytes: 1e9 };
    const resultPath = join(dir, 'result.parquet');
    const times = await compareInTurn(
      {
        bare: () => bare.run(path, join(dir, 'bare')),
        isolated: () => python.run({ userId: 'a', template, args: { t: path }, resultPath, ...limits }),
      },
      rows > 1000 ? 10 : runs,
    );
    const figure = `${times.isolated.toFixed(0)} ms, ${(times.isolated / times.bare).toFixed(1)}×`;
    const wanted = rows === 100 ? `under ${wantedMs} ms` : '-';
    report(`${rows} rows (bare ${times.bare.toFixed(1)} ms)`, figure, wanted, rows > 100 || times.isolated < wantedMs);
  }
  bare.stop();
  connection.closeSync();
  await python.close();
  await rm(dir, { recursive: true, force: true });
}

const bareScript = `
import json, os, sys
sys.path += [sys.argv[1], sys.argv[2]]
import template
template.warm_up()
for line in sys.stdin:
    request = json.loads(line)
    fds = [os.open(request['result'] + end, os.O_RDWR | os.O_CREAT | os.O_TRUNC) for end in ('.arrow', '.parquet')]
    template.attempt(request, fds[0])
    template.result.rewrite(request, *fds)
    for fd in fds:
        os.close(fd)
    print('done', flush=True)
`;

function startBare(python: string, packages: string) {
  const child = spawn(python, ['-S', '-c', bareScript, childDir, packages], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PYTHONDONTWRITEBYTECODE: '1' },
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const limits = { maxRows: 1_000_000, maxColumns: 100, maxBytes: 1e9 };
  return {
    async run(path: string, result: string) {
      child.stdin.write(`${JSON.stringify({ op: 'run', template, args: [{ name: 't', path }], result, ...limits })}\n`);
      if ((await lines.next()).value !== 'done') throw new Error('bare Python failed');
    },
    stop: () => child.stdin.end(),
  };
}
