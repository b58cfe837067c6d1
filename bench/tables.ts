import { acrossAccounts } from '../store/pg/accountScope.ts';
import { compareInTurn, report, timeMs } from './measure.ts';
import type { BenchRig } from './services.ts';
import { benchKeyedEdits, benchManyClients, benchRowEdits, benchWideUpsert, warmUp } from './tableEdits.ts';
import { benchPages, benchQueries } from './tableReads.ts';
import { post, TableRig } from './tableRig.ts';

/** Measures edits, pages, queries and commits on tables of 1,000,000 and 10,000 rows × 12, each with 2,000 deltas. */
export async function benchTables(rig: BenchRig): Promise<void> {
  // Some of this works below the requests, which would set the account.
  await acrossAccounts(() => benchAll(rig));
}

async function benchAll(rig: BenchRig): Promise<void> {
  const tables = await TableRig.open(rig);
  const names = { large: 'large', small: 'small' };
  const madeMs = await timeMs(async () => {
    for (const [name, rows] of [
      [names.large, 1_000_000],
      [names.small, 10_000],
    ] as const) {
      await tables.makeTable(name, rows);
      await tables.addDeltas(name, rows);
    }
  });
  console.log(`  made in ${(madeMs / 1000).toFixed(1)} s`);
  // Reads come first: edits leave a longer log than a table in use has, as nothing compacts it here.
  await benchPages(tables, names);
  await benchQueries(tables, names.large);
  await benchCommits(rig);
  const eight = Array.from({ length: 8 }, (_, i) => `one_of_eight_${i}`);
  for (const name of eight) await tables.makeTable(name, 10_000);
  await warmUp(tables, eight);
  await benchRowEdits(tables, names);
  await benchManyClients(tables, eight);
  await benchKeyedEdits(tables, eight);
  await benchWideUpsert(tables);
}

/** Measures a snapshot and a named version, for a workbook with a million rows and one with a thousand. */
async function benchCommits(rig: BenchRig): Promise<void> {
  const [large, small] = [await TableRig.open(rig), await TableRig.open(rig)];
  await large.makeTable('t', 1_000_000);
  await small.makeTable('t', 1_000);
  const snapshot = (tables: TableRig) => post(rig, `${tables.base}/snapshots`, { summary: 'bench' });
  const version = (tables: TableRig, round: number) => post(rig, `${tables.base}/versions`, { label: `v${round}` });
  const ms = await compareInTurn(
    {
      largeSnapshot: () => snapshot(large),
      smallSnapshot: () => snapshot(small),
      largeVersion: (round) => version(large, round),
      smallVersion: (round) => version(small, round),
    },
    25,
  );
  for (const [what, l, s] of [
    ['a snapshot', ms.largeSnapshot, ms.smallSnapshot],
    ['a named version', ms.largeVersion, ms.smallVersion],
  ] as const) {
    console.log(`  ${what}: ${l.toFixed(1)} ms over 1,000,000 rows, ${s.toFixed(1)} ms over 1,000`);
    report(`${what} over 1,000,000 rows, over one of 1,000`, `${(l / s).toFixed(2)}×`, 'constant (at most 1.3×)', l <= 1.3 * s);
  }
}
