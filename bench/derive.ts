import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { seeEverything } from '../core/table/visibleTable.ts';
import { quoteText } from '../store/duckdb/relation.ts';
import { acrossAccounts } from '../store/pg/accountScope.ts';
import { queryTable } from '../store/tables/openRelation.ts';
import { compareInTurn, median, report, timeMs } from './measure.ts';
import type { BenchRig } from './services.ts';
import { runEdits } from './tableEdits.ts';
import { post, TableRig } from './tableRig.ts';

const rows = 20_000;
const steps = 50;
const rounds = 3;
const msAStep = 100;

/** Each reads the one before it. */
const chainSql = (from: string) => `SELECT c1, c2, c7, c8 + 1 AS c8 FROM ${from}`;
/** Each reads the same table. */
const fanSql = (from: string, step: number) => `SELECT c7, count(DISTINCT c2) AS n FROM ${from} WHERE c8 % 50 <> ${step} GROUP BY c7`;

/** Recomputing 50 derived tables beside their bare SQL, and an edit of a table with 50 of them beside one without. */
export async function benchDerive(rig: BenchRig): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-derive-'));
  try {
    await acrossAccounts(() => measure(rig, folder));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(rig: BenchRig, folder: string): Promise<void> {
  const chain = await TableRig.open(rig);
  await chain.makeTable('t0', rows);
  for (let step = 1; step <= steps; step += 1)
    await createTransform(chain, `t${step}`, chainSql('{{ t }}'), { table: `t${step - 1}`, key: 'c1' });
  const fan = await TableRig.open(rig);
  await fan.makeTable('t0', rows);
  const create = (step: number) => createTransform(fan, `t${step}`, fanSql('{{ t }}', step), { table: 't0', key: 'c7' });
  for (let step = 1; step <= steps; step += 5) await Promise.all([0, 1, 2, 3, 4].map((more) => create(step + more)));
  await fan.makeTable('plain', rows);

  const base = join(folder, 'base.parquet');
  await queryTable(chain.services, seeEverything(await chain.open('t0')), null, (connection, from) =>
    connection.run(`COPY (SELECT * FROM ${from}) TO ${quoteText(base)} (FORMAT parquet)`),
  );
  const bare = await (await DuckDBInstance.create(':memory:')).connect();
  const file = (step: number) => (step === 0 ? base : join(folder, `${step}.parquet`));
  const runBare = async (makeSql: (from: string, step: number) => string, inputOf: (step: number) => number) => {
    for (let step = 1; step <= steps; step += 1) {
      const sql = makeSql(`read_parquet(${quoteText(file(inputOf(step)))})`, step);
      await bare.run(`COPY (${sql}) TO ${quoteText(file(step))} (FORMAT parquet)`);
    }
  };

  const kinds = [
    { name: 'in a chain', tables: chain, bare: () => runBare(chainSql, (step) => step - 1) },
    { name: 'in a fan', tables: fan, bare: () => runBare(fanSql, () => 0) },
  ];
  for (const { name, tables, bare } of kinds) {
    const recomputed: number[] = [];
    const ms = await compareInTurn(
      {
        bare,
        recompute: async (round) => {
          await editRow(tables, 't0', round);
          const took = await timeMs(() => recompute(tables));
          if (round > 0) recomputed.push(took);
        },
      },
      rounds,
    );
    const took = median(recomputed);
    const allowed = 2 * ms.bare + steps * msAStep;
    console.log(`  ${steps} tables ${name}, ${rows} rows: recomputed in ${took.toFixed(0)} ms; bare SQL ${ms.bare.toFixed(0)} ms`);
    const wanted = `at most 1 (${allowed.toFixed(0)} ms)`;
    report(`recompute ${name}, of 2× bare SQL and 0.1 s a step`, (took / allowed).toFixed(2), wanted, took <= allowed);
  }
  bare.closeSync();
  await measureEdits(fan);
}

/** All edits change a column that the derived tables use; only the first since they were made finds them fresh. */
async function measureEdits(tables: TableRig): Promise<void> {
  const { rig } = tables;
  const marking = { t0: [] as number[], plain: [] as number[] };
  for (let round = 1; round <= 5; round += 1) {
    await recompute(tables, null);
    for (const name of ['t0', 'plain'] as const) marking[name].push(await timeMs(() => editRow(tables, name, 100 + round)));
  }
  const load = (name: string, edits: number) =>
    runEdits({ url: rig.url, token: rig.token, tables: [{ path: `${tables.base}/tables/${name}/rows`, rows }], edits });
  const found = { t0: [] as number[], plain: [] as number[] };
  for (const name of ['t0', 'plain']) await load(name, 1000);
  for (let round = 0; round < 9; round += 1)
    for (const name of ['plain', 't0'] as const) found[name].push((await load(name, 100)).medianMs);
  const [with50, without] = [median(found.t0), median(found.plain)];
  console.log(
    `  a row edit: ${with50.toFixed(2)} ms with ${steps} derived tables, ${without.toFixed(2)} ms without; one that makes them stale ${median(marking.t0).toFixed(1)} ms, without ${median(marking.plain).toFixed(1)} ms`,
  );
  const ratio = with50 / without;
  report(`a row edit with ${steps} derived tables over one without`, `${ratio.toFixed(2)}×`, 'at most 1.2×', ratio <= 1.2);
}

async function createTransform(tables: TableRig, name: string, template: string, { table, key }: { table: string; key: string }) {
  const body = { name, language: 'sql', template, args: { t: table }, key: [key], materialize: 'table' };
  await post(tables.rig, `${tables.base}/transforms`, body);
}

async function editRow(tables: TableRig, name: string, round: number): Promise<void> {
  const changed = { __svc_row_id: 1 + round, c2: `round ${round}` };
  await post(tables.rig, `${tables.base}/tables/${name}/rows`, { expected_version: null, rows: [changed] });
}

/** `expected`: how many tables must come out; null: any number. */
async function recompute(tables: TableRig, expected: number | null = steps): Promise<void> {
  const { recomputed, failed } = await post<{ recomputed?: unknown[]; failed?: unknown[] }>(tables.rig, `${tables.base}/recompute`, {});
  if (!recomputed || failed?.length !== 0 || (expected !== null && recomputed.length !== expected))
    throw new Error(`${recomputed?.length} tables were recomputed, ${failed?.length} failed`);
}
