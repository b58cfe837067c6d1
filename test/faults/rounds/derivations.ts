import type { Caller } from './caller.ts';
import { book, makeBook, makeTable, query, type Story } from './story.ts';

const length = 4;

/** A table is edited and what derives from it is made again, one after the other. */
export async function deriveTables(caller: Caller): Promise<Story> {
  const workbookId = await makeBook(caller, 'Derived');
  await makeTable(caller, workbookId, 't0', [{ name: 'n', type: 'BIGINT' }]);
  const rows = `${book(workbookId)}/tables/t0/rows`;
  await caller.post(rows, { rows: [{ n: 0 }], expected_version: null });
  for (let i = 1; i <= length; i += 1)
    await caller.post(`${book(workbookId)}/transforms`, {
      name: `t${i}`,
      language: 'sql',
      materialize: 'table',
      template: 'SELECT n + 1 AS n FROM {{ t }}',
      args: { t: `t${i - 1}` },
    });
  const recompute = () => caller.post(`${book(workbookId)}/recompute`, {});
  let edits = 0;
  return {
    name: 'derivations',
    async work() {
      edits += 1;
      await caller.post(rows, { rows: [{ __svc_row_id: 1, n: edits * 1000 }], expected_version: null });
      await recompute();
    },
    async findFaults() {
      for (let tries = 0; tries < 30; tries += 1) {
        const { failed } = (await recompute()) as { failed?: unknown[] };
        if (failed && failed.length > 0) return [`a recompute failed: ${JSON.stringify(failed)}`];
        const { transforms } = await caller.get(`${book(workbookId)}/transforms`);
        if ((transforms as { freshness: { stale: boolean } }[]).every(({ freshness }) => !freshness.stale)) break;
      }
      const [last] = await query(caller, workbookId, `SELECT n::INT AS n FROM t${length}`);
      return last?.n === edits * 1000 + length ? [] : [`t${length} is ${last?.n} and not ${edits * 1000 + length}`];
    },
    count: () => edits,
  };
}
