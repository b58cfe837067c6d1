import type { Caller } from './caller.ts';
import { book, makeBook, makeTable, query, type Story } from './story.ts';

/** A table leaves as a file, comes back with a cell changed, and is merged. */
export async function mergeFiles(caller: Caller): Promise<Story> {
  const workbookId = await makeBook(caller, 'Merges');
  await makeTable(caller, workbookId, 'sales', [
    { name: 'item', type: 'VARCHAR' },
    { name: 'n', type: 'BIGINT' },
  ]);
  const base = book(workbookId);
  await caller.post(`${base}/tables/sales/rows`, {
    rows: Array.from({ length: 20 }, (_, i) => ({ item: `item ${i}`, n: i === 0 ? 1_000_000 : i })),
    expected_version: null,
  });
  let merges = 0;
  return {
    name: 'merges',
    async work() {
      const exported = await caller.insist({
        method: 'POST',
        path: `${base}/export`,
        json: { tables: ['sales'], format: 'csv', record_branch: true },
      });
      const text = exported.bytes.toString().replace(String(1_000_000 + merges), String(1_000_000 + merges + 1));
      const form = new FormData();
      form.set('branch_id', exported.headers.get('x-svc-branch-id') ?? '');
      form.set('file', new Blob([text]), 'sales.csv');
      const { updated } = (await caller.insist({ method: 'POST', path: `${base}/tables/sales/merge`, form })).json();
      if (updated !== 1) caller.unexpected.push(`merge ${merges + 1} changed ${updated} rows`);
      merges += 1;
    },
    async findFaults() {
      const [found] = await query(caller, workbookId, 'SELECT max(n)::INT AS n, count(*)::INT AS rows FROM sales');
      const { ops } = await caller.get(`${base}/ops?limit=1`);
      const faults = found?.n === 1_000_000 + merges && found.rows === 20 ? [] : [`after ${merges} merges: ${JSON.stringify(found)}`];
      // One to make it, one for its rows, one for each merge.
      const last = (ops as { edit_version?: number }[])[0]?.edit_version;
      if (last !== undefined && last !== merges + 2) faults.push(`${merges} merges made version ${last}`);
      return faults;
    },
    count: () => merges,
  };
}
