import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareAddColumn } from '../../activities/columns/changeColumns.ts';
import { applyColumnChange } from '../../activities/columns/openColumn.ts';
import { prepareRetypeColumn } from '../../activities/columns/retypeColumn.ts';
import { compactTable } from '../../activities/compaction/compactTable.ts';
import { commitSnapshot } from '../../activities/snapshots/commitSnapshot.ts';
import { planRestore } from '../../activities/snapshots/planRestore.ts';
import { restoreSnapshot } from '../../activities/snapshots/restoreSnapshot.ts';
import { sumLayers } from '../../core/storage/use.ts';
import { compactionLimits } from '../../core/table/compactionLimits.ts';
import type { TableAt } from '../../core/table/table.ts';
import { listTablesById } from '../../store/pg/tables.ts';
import { openTestStore, type TestStore } from './store.ts';

/** What the catalog says of the size of a table, after everything that can happen to it. */

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.stop());

const quiet = { heartbeat() {} };
const current = async (tableId: string) => (await listTablesById(store.services.db.pool, [tableId]))[0] as TableAt;

async function sizesOf(tableId: string): Promise<{ files: number; tail: number }> {
  const { rows } = await store.api.sql.query<{ files: number; tail: number }>(
    'SELECT file_bytes::float8 AS files, tail_bytes::float8 AS tail FROM tables WHERE id = $1',
    [tableId],
  );
  return rows[0] as { files: number; tail: number };
}

/** The sum over the layers, and whether the log on top holds anything. */
async function expectRight(tableId: string): Promise<void> {
  const at = await current(tableId);
  const { files, tail } = await sizesOf(tableId);
  expect({ files, hasTail: tail > 0 }).toEqual({ files: sumLayers(at.layers), hasTail: at.table.tailCount > 0 });
}

describe('the size of a table', () => {
  it('is right after edits, large edits, columns, compactions and restores', async () => {
    const id = await store.makeLargeTable('t', 3000);
    const request = { workbookId: store.workbook.id, name: 't', expectedVersion: null };
    const { services, principal } = store;
    await expectRight(id);
    expect((await sizesOf(id)).files).toBeGreaterThan(3000 * 8);
    await store.upsert('t', [{ n: 1, t: 'x'.repeat(5000) }]);
    await expectRight(id);
    expect((await sizesOf(id)).tail).toBeGreaterThan(5000);
    const { snapshot } = await store.commit((tx) => commitSnapshot(tx, store.workbook, { summary: 's', eventType: 'test' }));
    await store.upsert(
      't',
      Array.from({ length: 1200 }, (_, i) => ({ __svc_row_id: i + 1, n: -i })),
    );
    await expectRight(id);
    await store.remove('t', [5, 6, 7]);
    await expectRight(id);
    const added = await prepareAddColumn(services, principal, request, { column: 'c', type: 'VARCHAR' });
    await store.commit((tx) => applyColumnChange(tx, added));
    await expectRight(id);
    expect(await compactTable(services, id, quiet, { ...compactionLimits, tail: 0, deltaShare: 1e9 })).toBe('frozen');
    await expectRight(id);
    expect((await sizesOf(id)).tail).toBe(0);
    await store.upsert('t', [{ n: 2 }]);
    expect(await compactTable(services, id, quiet, { ...compactionLimits, tail: 0, deltas: 1 })).toBe('compacted');
    await expectRight(id);
    await store.upsert('t', [{ n: 3 }]);
    const retyped = await prepareRetypeColumn(services, principal, request, 'n', 'VARCHAR');
    await store.commit((tx) => applyColumnChange(tx, retyped));
    await expectRight(id);
    const plan = await planRestore(services.db, snapshot);
    await store.commit((tx) => restoreSnapshot(tx, store.workbook, plan, null));
    await expectRight(id);
    expect((await current(id)).table.tailCount).toBe(1);
  });
});
