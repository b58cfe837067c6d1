import { applyColumnChange, type PreparedColumnChange } from '../../activities/columns/openColumn.ts';
import { ok } from '../setup/api.ts';
import { editRows, makeTable, type WantedColumn } from '../setup/tables.ts';
import type { TestStore } from './store.ts';

const base = '/api/v1/workbooks/{workbook_id}' as const;

/** A workbook of its own, through HTTP: every answer is held against the contract. */
export async function makeBook(store: TestStore, title: string) {
  const { client } = store.owner;
  const { id } = ok(await client.POST('/api/v1/workbooks', { body: { title } }));
  const book = { workbook_id: id };
  const table = (name: string) => ({ path: { workbook_id: id, name } });
  return {
    id,
    create: (name: string, columns: WantedColumn[] = [{ name: 'a' }]) => makeTable(client, id, name, columns),
    upsert: (name: string, rows: Record<string, unknown>[]) => editRows(client, id, name, rows),
    read: async (name: string, query: { at_version?: number; at?: string; filter?: string; sort?: string[] } = {}) => {
      const page = ok(await client.GET(`${base}/tables/{name}/rows`, { params: { ...table(name), query } }));
      if (typeof page === 'string') throw new Error('not JSON');
      return page;
    },
    remove: async (name: string) =>
      ok(await client.DELETE(`${base}/tables/{name}`, { params: { ...table(name), query: { expected_version: 'null' } } })),
    archive: async (name: string) => ok(await client.POST(`${base}/artifacts/{name}/archive`, { params: table(name) })),
    tables: async (state: 'active' | 'archived' = 'active') =>
      ok(await client.GET(`${base}/tables`, { params: { path: book, query: { state } } })).tables.map((each) => each.name),
    list: async (query: { limit?: number; cursor?: string } = {}) =>
      ok(await client.GET(`${base}/snapshots`, { params: { path: book, query } })),
    commit: async (summary: string) => ok(await client.POST(`${base}/snapshots`, { params: { path: book }, body: { summary } })),
    restore: (snapshot_id: string) =>
      client.POST(`${base}/snapshots/{snapshot_id}/restore`, { params: { path: { ...book, snapshot_id } } }),
    label: (label: string, summary: string | null = null) =>
      client.POST(`${base}/versions`, { params: { path: book }, body: { label, summary } }),
    version: (label: string) => client.GET(`${base}/versions/{label}`, { params: { path: { ...book, label } } }),
    versions: async () => ok(await client.GET(`${base}/versions`, { params: { path: book } })).versions,
    revert: (label: string) => client.POST(`${base}/versions/{label}/revert`, { params: { path: { ...book, label } } }),
    change: (
      prepare: (request: { workbookId: string; name: string; expectedVersion: null }) => Promise<PreparedColumnChange>,
      name: string,
    ) => prepare({ workbookId: id, name, expectedVersion: null }).then((prepared) => store.commit((tx) => applyColumnChange(tx, prepared))),
  };
}
