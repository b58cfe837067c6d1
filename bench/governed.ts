import { acrossAccounts } from '../store/pg/accountScope.ts';
import { compareInTurn, report } from './measure.ts';
import type { BenchRig } from './services.ts';
import { get, post, put, TableRig } from './tableRig.ts';

const rows = 100_000;
const rounds = 15;

/** What a read costs where columns are masked and denied, beside the same read of a table without policies. */
export async function benchGoverned(rig: BenchRig): Promise<void> {
  await acrossAccounts(() => measureReads(rig));
}

async function measureReads(rig: BenchRig): Promise<void> {
  const [open, governed] = [await TableRig.open(rig), await TableRig.open(rig)];
  for (const tables of [open, governed]) {
    await tables.makeTable('t', rows);
    await tables.addDeltas('t', rows);
  }
  for (const [column, tag, effect] of [['c3', 'money', 'mask'] as const, ['c11', 'hr', 'deny'] as const]) {
    await post(rig, `${governed.base}/artifacts/t/columns/${column}/tags`, { tag });
    await put(rig, `${governed.base}/policies/${tag}`, { effect });
  }
  const query = (sql: string) => (base: string) => post(rig, `${base}/query`, { sql });
  const reads: Record<string, (base: string, round: number) => Promise<unknown>> = {
    'a row': (base, round) => get(rig, `${base}/tables/t/rows/${1 + ((round * 37_987) % rows)}`),
    'a page of 100': (base, round) => get(rig, `${base}/tables/t/rows?limit=100&offset=${(round * 3_797) % rows}`),
    'a page of 10,000': (base) => get(rig, `${base}/tables/t/rows?limit=10000`),
    'a sorted page': (base) => get(rig, `${base}/tables/t/rows?limit=100&sort=c10:desc`),
    'a filtered page': (base) => get(rig, `${base}/tables/t/rows?limit=100&filter=${encodeURIComponent('c8 = 7 AND c10 > 500000')}`),
    'the whole table': (base) => get(rig, `${base}/tables/t/data`),
    'a profile': (base) => get(rig, `${base}/tables/t/profile`),
    'a query by a column': query('SELECT c1, c2 FROM t WHERE c8 = 7 LIMIT 1000'),
    'a group': query('SELECT c7, count(*) AS n, sum(c12) AS s FROM t GROUP BY c7 ORDER BY c7'),
    'a query of all columns': query('SELECT * FROM t WHERE c8 = 7'),
  };
  for (const [what, read] of Object.entries(reads)) {
    const ms = await compareInTurn(
      { open: (round) => read(open.base, round), governed: (round) => read(governed.base, round) },
      what === 'the whole table' ? 5 : rounds,
    );
    const ratio = ms.governed / ms.open;
    console.log(`  ${what}: ${ms.governed.toFixed(1)} ms, without policies ${ms.open.toFixed(1)} ms`);
    report(`${what} of ${rows} governed rows`, `${ratio.toFixed(2)}×`, 'at most 1.3×', ratio <= 1.3);
  }
}
