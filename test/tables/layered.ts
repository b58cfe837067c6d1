import { prepareAddColumn } from '../../activities/columns/changeColumns.ts';
import { applyColumnChange, type PreparedColumnChange } from '../../activities/columns/openColumn.ts';
import { readRowHistory } from '../../activities/rows/rowHistory.ts';
import { requireTable } from '../../activities/tables/openTable.ts';
import { openVisibleHistory } from '../../activities/tables/openVisibleTable.ts';
import { compactionLimits } from '../../core/table/compactionLimits.ts';
import type { TableAt } from '../../core/table/table.ts';
import type { BlobStore } from '../../store/blobs/blobStore.ts';
import { listTablesById } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import type { TestStore } from './store.ts';

export const quiet = { heartbeat() {} };
export const eager = { ...compactionLimits, tail: 0, deltaShare: 1e9 };
export const thorough = { ...compactionLimits, tail: 0, deltas: 1 };

/** Ways to look at the layers of tables, to make many of them, and to get in the way of who folds them. */
export function withLayers(store: TestStore) {
  const current = async (tableId: string) => (await listTablesById(store.services.db.pool, [tableId]))[0] as TableAt;
  const kinds = async (tableId: string) => (await current(tableId)).layers.map((layer) => layer.kind);

  async function listBlobs(tableId: string): Promise<string[]> {
    const { workbook, services } = store;
    const keys: string[] = [];
    for await (const { key } of services.blobs.list(`${workbook.accountId}/${workbook.id}/${tableId}`)) keys.push(key);
    return keys.sort();
  }

  /** The real blob store, with something happening after each file is there. */
  function afterPut(happen: (n: number) => Promise<void>): Services {
    let puts = 0;
    const put: BlobStore['put'] = async (...args) => {
      const result = await store.services.blobs.put(...args);
      puts += 1;
      await happen(puts);
      return result;
    };
    return { ...store.services, blobs: Object.create(store.services.blobs, { put: { value: put } }) as BlobStore };
  }

  const change = async (prepared: Promise<PreparedColumnChange>) => {
    const ready = await prepared;
    return store.commit((tx) => applyColumnChange(tx, ready));
  };
  const request = (name: string) => ({ workbookId: store.workbook.id, name, expectedVersion: null });

  const tellHistory = async (name: string, rowId: number) => {
    const { services, principal, workbook } = store;
    const visible = await openVisibleHistory(services, principal, await requireTable(services, workbook.id, name));
    return (await readRowHistory(services, visible, rowId, { limit: 100 })).items;
  };

  /** A table of many layers: segments, log, deltas, deletions, a column that came late. */
  async function makeLayered(name: string): Promise<string> {
    const id = await store.makeLargeTable(name, 3000);
    await store.upsert(name, [
      { __svc_row_id: 1, t: 'log' },
      { n: 1, t: null },
    ]);
    await store.upsert(
      name,
      Array.from({ length: 1200 }, (_, i) => ({ __svc_row_id: i + 1, n: -i })),
    );
    await store.remove(name, [5, 6, 7]);
    await change(prepareAddColumn(store.services, store.principal, request(name), { column: 'c', type: 'DECIMAL(10,2)', default: '7.50' }));
    await store.upsert(name, [{ __svc_row_id: 8, c: null }, { __svc_row_id: 9, t: '日本 "x"\n' }, { c: '1.25' }]);
    return id;
  }

  return { current, kinds, listBlobs, afterPut, change, request, tellHistory, makeLayered };
}
