import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { type RowFormat, streamRows } from '../store/duckdb/formats/streamRows.ts';
import { quoteText } from '../store/duckdb/relation.ts';
import { median } from './measure.ts';

const rounds = 9;
const rowCount = 100_000;
/** Allowed time, as a multiple of what DuckDB needs to write the same rows to a file as JSON. */
const targets: Record<RowFormat, number> = { ndjson: 1.5, json: 1.5, arrow: 3, csv: 1.5 };

const tableSql = `CREATE TABLE mixed AS SELECT
  i AS id, i * 9007199254 AS big, i / 7.0 AS ratio, (i / 100.0)::DECIMAL(18,3) AS amount, i % 2 = 0 AS flag,
  DATE '2020-01-01' + (i % 3000)::INTEGER AS day, TIMESTAMP '2020-01-01' + to_microseconds(i * 123457) AS moment,
  TIME '00:00:00' + to_microseconds(i) AS hour, 'name ' || i AS name, '日本語 ' || i || ' "quoted"' AS text,
  ('{"a":' || i || '}')::JSON AS extra, CASE WHEN i % 3 = 0 THEN NULL ELSE i::INTEGER END AS maybe
  FROM range(${rowCount}) t(i)`;

interface Taken {
  wallMs: number;
  cpuMs: number;
}

/** Compares bodies of 100,000 rows × 12 with DuckDB's own `COPY … (FORMAT json)`, in turn, so that machine load affects all. */
export async function benchFormats(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-formats-'));
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    await connection.run(tableSql);
    const file = quoteText(join(folder, 'rows.json'));
    const works: Record<string, () => Promise<unknown>> = {
      copy: () => connection.run(`COPY mixed TO ${file} (FORMAT json)`),
      ndjson: () => drain(connection, 'ndjson'),
      json: () => drain(connection, 'json'),
      arrow: () => drain(connection, 'arrow'),
      csv: () => drain(connection, 'csv'),
    };
    const taken = await measureInTurn(works);
    printRatios(taken);
  } finally {
    connection.closeSync();
    instance.closeSync();
    await rm(folder, { recursive: true, force: true });
  }
}

async function drain(connection: DuckDBConnection, format: RowFormat): Promise<number> {
  let bytes = 0;
  const body = streamRows(connection, 'SELECT * FROM mixed', undefined, format);
  for await (const piece of body) bytes += (piece as Buffer).length;
  return bytes;
}

async function measureInTurn(works: Record<string, () => Promise<unknown>>): Promise<Record<string, Taken[]>> {
  const taken: Record<string, Taken[]> = {};
  for (let round = -1; round < rounds; round++) {
    for (const [name, work] of Object.entries(works)) {
      const cpu = process.cpuUsage();
      const began = performance.now();
      await work();
      const wallMs = performance.now() - began;
      const { user, system } = process.cpuUsage(cpu);
      // The first round warms up.
      if (round < 0) taken[name] = [];
      else taken[name]?.push({ wallMs, cpuMs: (user + system) / 1000 });
    }
  }
  return taken;
}

/** Prints processor time beside elapsed time: on a shared machine elapsed time depends on others. */
function printRatios(taken: Record<string, Taken[]>): void {
  const copyWall = median(taken.copy?.map(({ wallMs }) => wallMs));
  const copyCpu = median(taken.copy?.map(({ cpuMs }) => cpuMs));
  console.log(`COPY … (FORMAT json)  ${copyWall.toFixed(0)} ms (${copyCpu.toFixed(0)} ms of processor), ${rowCount} rows × 12`);
  for (const [format, target] of Object.entries(targets)) {
    const wall = median(taken[format]?.map(({ wallMs }) => wallMs));
    const cpu = median(taken[format]?.map(({ cpuMs }) => cpuMs));
    const ratios = `${(wall / copyWall).toFixed(2)}× by the clock, ${(cpu / copyCpu).toFixed(2)}× in processor time`;
    console.log(`${format.padEnd(21)} ${wall.toFixed(0)} ms (${cpu.toFixed(0)} ms of processor): ${ratios}; wanted: at most ${target}×`);
  }
}
