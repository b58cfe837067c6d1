import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readReturnedFile } from '../activities/merge/readReturnedFile.ts';
import { seeEverything } from '../core/table/visibleTable.ts';
import { acrossAccounts } from '../store/pg/accountScope.ts';
import { queryTable } from '../store/tables/openRelation.ts';
import { compareInTurn, report } from './measure.ts';
import type { BenchRig } from './services.ts';
import { TableRig } from './tableRig.ts';

const rows = 100_000;
const rounds = 3;
const mostJoins = 6;
/** The file leaves out the last of twelve. */
const columns = Array.from({ length: 11 }, (_, i) => `c${i + 1}`);

/** A returned file of 100,000 rows × 11 with 10 % changed, merged over HTTP, beside the bare join and the reading of the file. */
export async function benchMerge(rig: BenchRig): Promise<void> {
  await acrossAccounts(() => measureMerges(rig));
}

async function measureMerges(rig: BenchRig): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-merge-'));
  const tables = await TableRig.open(rig);
  const headers = { authorization: `Bearer ${rig.token}` };
  const send = async (path: string, body: FormData | string, type?: string) => {
    const answer = await fetch(`${rig.url}${tables.base}${path}`, {
      method: 'POST',
      headers: { ...headers, ...(type ? { 'content-type': type } : {}) },
      body,
    });
    if (!answer.ok) throw new Error(await answer.text());
    return answer;
  };
  try {
    const branches: string[] = [];
    const path = join(folder, 'returned.csv');
    let edited = '';
    // A table for each round, as a file that was merged changes nothing the second time.
    for (let round = 0; round <= rounds; round += 1) {
      await tables.makeTable(`large${round}`, rows);
      const wish = JSON.stringify({ tables: [`large${round}`], format: 'csv', record_branch: true });
      const answer = await send('/export', wish, 'application/json');
      branches.push(answer.headers.get('x-svc-branch-id') ?? '');
      edited = editLines(await answer.text());
    }
    await writeFile(path, edited);
    const at = await tables.open('large0');
    const ms = await compareInTurn(
      {
        join: () =>
          queryTable(tables.services, seeEverything(at), null, (connection, from) =>
            connection.runAndReadAll(
              `SELECT b.__svc_row_id FROM ${from} b FULL JOIN read_csv('${path}', header = true) f USING (__svc_row_id)
               WHERE ${columns.map((name) => `b.${name} IS DISTINCT FROM f.${name}`).join(' OR ')}`,
            ),
          ),
        read: () => readReturnedFile(tables.services, tables.principal.userId, { path, filename: 'returned.csv' }, async () => {}),
        merge: async (round) => {
          const form = new FormData();
          form.append('branch_id', branches[round] ?? '');
          form.append('file', new Blob([edited]), 'returned.csv');
          const merged = (await (await send(`/tables/large${round}/merge`, form)).json()) as { updated: number };
          if (merged.updated !== rows / 10) throw new Error(`${merged.updated} rows were updated`);
        },
      },
      rounds,
    );
    const figure = (each: number) => `${each.toFixed(0)} ms`;
    console.log(`  ${rows} × 11, 10 % changed: merged in ${figure(ms.merge)}; bare join ${figure(ms.join)}, reading ${figure(ms.read)}`);
    const ratio = (ms.merge - ms.read) / ms.join;
    report('merge without the reading of the file, over the bare join', `${ratio.toFixed(1)}×`, `under ${mostJoins}×`, ratio < mostJoins);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Leaves the last column but the row id out, and changes every tenth row. */
function editLines(csv: string): string {
  return csv
    .replace(/^\ufeff/, '')
    .trimEnd()
    .split('\n')
    .map((line, i) => {
      const cells = line.split(',');
      cells.splice(11, 1);
      if (i > 0 && i % 10 === 0) cells[7] = '123456';
      return cells.join(',');
    })
    .join('\n');
}
