import type { components } from '../../schema/contract.ts';
import { ok } from '../setup/api.ts';
import { editRows, makeTable, type WantedColumn } from '../setup/tables.ts';
import type { TestStore } from '../tables/store.ts';

type Schemas = components['schemas'];
type Wanted = Omit<Schemas['TransformRequest'], 'language' | 'materialize'> &
  Partial<Pick<Schemas['TransformRequest'], 'language' | 'materialize'>>;

const base = '/api/v1/workbooks/{workbook_id}' as const;

/** A workbook of its own with what tests of transforms do to it, through HTTP. */
export async function makeBook(store: Pick<TestStore, 'owner' | 'api'>, client = store.owner.client) {
  const { id } = ok(await client.POST('/api/v1/workbooks', { body: { title: 'Derived' } }));
  const path = { workbook_id: id };
  const named = (name: string) => ({ path: { ...path, name } });
  const tryCreate = (wanted: Wanted, as = client) =>
    as.POST(`${base}/transforms`, {
      params: { path },
      body: { language: 'sql', materialize: 'table', ...wanted } as Schemas['TransformRequest'],
    });
  const tryRecompute = (as = client) => as.POST(`${base}/recompute`, { params: { path } });
  const list = async () => ok(await client.GET(`${base}/transforms`, { params: { path } })).transforms;
  return {
    id,
    table: (name: string, columns: WantedColumn[], rows: Record<string, unknown>[] = []) => makeTable(client, id, name, columns, rows),
    edit: (name: string, rows: Record<string, unknown>[]) => editRows(client, id, name, rows),
    tryCreate,
    create: async (wanted: Wanted) => {
      const result = ok(await tryCreate(wanted));
      if (!('transform' in result)) throw new Error('the run took too long');
      return result;
    },
    tryRun: (name: string) => client.POST(`${base}/transforms/{name}/run`, { params: named(name), body: {} }),
    run: async (name: string) => {
      const result = ok(await client.POST(`${base}/transforms/{name}/run`, { params: named(name), body: {} }));
      if (!('transform' in result)) throw new Error('the run took too long');
      return result;
    },
    get: async (name: string) => ok(await client.GET(`${base}/transforms/{name}`, { params: named(name) })),
    list,
    /** Names of the stale ones. */
    stale: async () => (await list()).filter(({ freshness }) => freshness.stale).map(({ name }) => name),
    tryRecompute,
    recompute: async () => {
      const result = ok(await tryRecompute());
      if (!('recomputed' in result)) throw new Error('it took too long');
      return result;
    },
    getTable: async (name: string) => ok(await client.GET(`${base}/tables/{name}`, { params: named(name) })),
    tryRemove: (name: string, version = 'null') =>
      client.DELETE(`${base}/transforms/{name}`, { params: { ...named(name), query: { expected_version: version } } }),
    tryRemoveTable: (name: string) =>
      client.DELETE(`${base}/tables/{name}`, { params: { ...named(name), query: { expected_version: 'null' } } }),
    addColumn: async (name: string, column: string) =>
      ok(await client.POST(`${base}/tables/{name}/columns`, { params: named(name), body: { column, expected_version: null } })),
    alterColumn: async (name: string, column: string, change: { new_name: string } | { type: string }) =>
      ok(
        await client.PATCH(`${base}/tables/{name}/columns/{column}`, {
          params: { path: { ...path, name, column } },
          body: { ...change, expected_version: null },
        }),
      ),
    dropColumn: async (name: string, column: string) =>
      ok(
        await client.DELETE(`${base}/tables/{name}/columns/{column}`, {
          params: { path: { ...path, name, column }, query: { expected_version: 'null' } },
        }),
      ),
    /** Rows with their ids, in order of these. */
    read: async (name: string): Promise<Record<string, unknown>[]> => {
      const page = ok(await client.GET(`${base}/tables/{name}/rows`, { params: named(name) }));
      if (typeof page === 'string') throw new Error('not JSON');
      return page.rows;
    },
    events: async (type: string) =>
      (
        await store.api.sql.query<{ data: Record<string, unknown> }>(
          'SELECT data FROM outbox WHERE scope = $1 AND type = $2 ORDER BY seq',
          [id, type],
        )
      ).rows.map(({ data }) => data),
    ops: async () => ok(await client.GET(`${base}/ops`, { params: { path } })).ops,
  };
}
