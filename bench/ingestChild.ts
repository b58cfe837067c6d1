import { createInterface } from 'node:readline';
import { writeRaw } from '../activities/ingest/writeRaw.ts';
import { analyze, build } from '../core/structuring/index.ts';
import { openFolderStore } from '../store/blobs/folderStore.ts';
import { openEngine, readAll } from '../store/duckdb/engine.ts';
import { quoteText } from '../store/duckdb/relation.ts';
import { readWorkbook } from '../store/xlsx/index.ts';

/** Runs in its own process, so that peak memory is that of this work. Does the work once for each line of input. */

export interface ChildReport {
  seconds: number;
  cpuSeconds: number;
  peakMb: number;
}

const [, , work, source = '', folder = ''] = process.argv;

/** Writes raw tables to the blob store, then runs a first query over all rows. */
async function ingest(): Promise<() => Promise<void>> {
  const blobs = await openFolderStore(folder);
  const engine = await openEngine({ connections: 1, memoryLimitMb: 1024 });
  return async () => {
    const { sheets } = await writeRaw(
      { blobs },
      { path: source, format: 'xlsx', filename: source },
      () => ({ prefix: 'a/w/t', rowBase: 0 }),
      {
        step() {},
      },
    );
    const keys = sheets.flatMap(({ layers }) => layers.flatMap((layer) => (layer.kind === 'segment' ? [layer.key] : [])));
    const { pathOf, release } = await blobs.open(keys);
    const paths = keys.map((key) => quoteText(pathOf(key))).join(', ');
    await engine.use((connection) => readAll(connection, `SELECT count(*), max(c1) FROM read_parquet([${paths}])`));
    release();
  };
}

async function structure(): Promise<() => Promise<void>> {
  const { sheets } = await readWorkbook(source);
  return async () => {
    build(sheets, analyze(sheets, source), source);
  };
}

const run = await (work === 'structure' ? structure() : ingest());
for await (const _ of createInterface({ input: process.stdin })) {
  const cpu = process.cpuUsage();
  const began = performance.now();
  await run();
  const { user, system } = process.cpuUsage(cpu);
  const report: ChildReport = {
    seconds: (performance.now() - began) / 1000,
    cpuSeconds: (user + system) / 1e6,
    peakMb: process.resourceUsage().maxRSS / 1024,
  };
  console.log(JSON.stringify(report));
}
process.exit(0);
