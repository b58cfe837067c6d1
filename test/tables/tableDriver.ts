import { afterAll } from 'vitest';
import { ok, type Person, startTestApi, type TestApi } from '../setup/api.ts';
import { makeTable, type WantedColumn } from '../setup/tables.ts';

type Row = Record<string, unknown> & { __svc_row_id: number };

export interface RowsAnswer {
  edit_version: number;
  rows: Row[];
  row_count: number;
  columns: { name: string; type: string }[];
}

const base = '/api/v1/workbooks/{workbook_id}' as const;

/** Calls on one table, as short as the tests want them. Every answer is held against the contract. */
export function driveTable({ client }: Person, workbookId: string, name: string) {
  const path = { workbook_id: workbookId, name };
  const column = (each: string) => ({ ...path, column: each });
  return {
    path,
    upsert: (rows: Record<string, unknown>[], expected_version: number | null = null, more: { rebase?: boolean } = {}) =>
      client.POST(`${base}/tables/{name}/rows`, { params: { path }, body: { rows, expected_version, ...more } }),
    remove: (row_ids: number[], expected_version: number | null = null) =>
      client.POST(`${base}/tables/{name}/rows/delete`, { params: { path }, body: { row_ids, expected_version } }),
    read: async (query: Record<string, unknown> = {}) =>
      ok(await client.GET(`${base}/tables/{name}/rows`, { params: { path, query } })) as unknown as RowsAnswer,
    add: (body: { column: string; type?: string; default?: string | number | boolean | null }, expected_version: number | null = null) =>
      client.POST(`${base}/artifacts/{name}/columns`, { params: { path }, body: { expected_version, ...body } }),
    rename: (from: string, new_name: string, expected_version: number | null = null) =>
      client.PATCH(`${base}/artifacts/{name}/columns/{column}`, {
        params: { path: column(from) },
        body: { new_name, expected_version },
      }),
    retype: (each: string, type: string, expected_version: number | null = null) =>
      client.PATCH(`${base}/artifacts/{name}/columns/{column}`, { params: { path: column(each) }, body: { type, expected_version } }),
    drop: (each: string, expected_version: number | null = null) =>
      client.DELETE(`${base}/artifacts/{name}/columns/{column}`, {
        params: { path: column(each), query: { expected_version: String(expected_version) } },
      }),
    columns: async () => ok(await client.GET(`${base}/tables/{name}/columns`, { params: { path } })).columns,
    range: (range: string) => client.GET(`${base}/tables/{name}/range`, { params: { path, query: { range } } }),
    write: (
      range: string,
      values: (string | number | boolean | null)[][],
      expected_version: number | null = null,
      more: { rebase?: boolean } = {},
    ) => client.PUT(`${base}/tables/{name}/range`, { params: { path }, body: { range, values, expected_version, ...more } }),
    history: (row_id: number, query: { cursor?: string; limit?: number } = {}) =>
      client.GET(`${base}/tables/{name}/rows/{row_id}/history`, { params: { path: { ...path, row_id }, query } }),
    diff: (from: string | number, to?: string | number, limit?: number) =>
      client.GET(`${base}/tables/{name}/diff`, {
        params: {
          path,
          query: { from: String(from), ...(to === undefined ? {} : { to: String(to) }), ...(limit === undefined ? {} : { limit }) },
        },
      }),
    annotate: (annotations: { target: { row_id?: number; column?: string }; style?: Record<string, never>; note?: string }[]) =>
      client.POST(`${base}/tables/{name}/annotations`, { params: { path }, body: { annotations } }),
    annotations: async (query: { cursor?: string; limit?: number } = {}) =>
      ok(await client.GET(`${base}/tables/{name}/annotations`, { params: { path, query } })),
    unannotate: (targets: { row_id?: number; column?: string }[]) =>
      client.POST(`${base}/tables/{name}/annotations/delete`, { params: { path }, body: { targets } }),
  };
}

export type DrivenTable = ReturnType<typeof driveTable>;

/** A service with one workbook, for the tests of one file. */
export async function useWorkbook() {
  const api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  afterAll(() => api.stop());
  return { api, world: await makeWorkbookWith(api) };
}

export async function makeWorkbookWith(api: TestApi) {
  const owner = await api.signUp();
  const workbookId = ok(await owner.client.POST('/api/v1/workbooks', { body: { title: '決算' } })).id;
  return {
    owner,
    workbookId,
    async makeTable(name: string, columns: WantedColumn[]): Promise<DrivenTable> {
      await makeTable(owner.client, workbookId, name, columns);
      return driveTable(owner, workbookId, name);
    },
    undo: (op_id: number) => owner.client.POST(`${base}/ops/{op_id}/undo`, { params: { path: { workbook_id: workbookId, op_id } } }),
    /** The id of a snapshot of the workbook as it is now. */
    snapshot: async () =>
      ok(await owner.client.POST(`${base}/snapshots`, { params: { path: { workbook_id: workbookId } }, body: { summary: 'then' } })).id,
    label: async (label: string) =>
      ok(await owner.client.POST(`${base}/versions`, { params: { path: { workbook_id: workbookId } }, body: { label } })),
    restore: async (snapshot_id: string) =>
      ok(
        await owner.client.POST(`${base}/snapshots/{snapshot_id}/restore`, { params: { path: { workbook_id: workbookId, snapshot_id } } }),
      ),
    ops: async (query: { limit?: number; before?: number; cursor?: string } = {}) =>
      ok(await owner.client.GET(`${base}/ops`, { params: { path: { workbook_id: workbookId }, query } })),
  };
}
