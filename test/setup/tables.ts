import type { components } from '../../schema/contract.ts';
import { type ApiClient, ok } from './api.ts';

/** A column of text, unless its type is told. */
export interface WantedColumn {
  name: string;
  type?: string;
}

type Edited = components['schemas']['UpsertRowsResult'];
const tables = '/api/v1/workbooks/{workbook_id}/tables' as const;

/** Makes a table as a caller does, with these rows in it where there are any. */
export async function makeTable(
  client: ApiClient,
  workbookId: string,
  name: string,
  columns: WantedColumn[],
  rows: Record<string, unknown>[] = [],
): Promise<void> {
  ok(await client.POST(tables, { params: { path: { workbook_id: workbookId } }, body: { name, columns } }));
  if (rows.length > 0) await editRows(client, workbookId, name, rows, 1);
}

/** Writes rows as a caller does: new ones, or with `__svc_row_id` those that are there. Any version is expected unless one is told. */
export async function editRows(
  client: ApiClient,
  workbookId: string,
  name: string,
  rows: Record<string, unknown>[],
  expectedVersion: number | null = null,
): Promise<Edited> {
  const params = { path: { workbook_id: workbookId, name } };
  return ok(await client.POST(`${tables}/{name}/rows`, { params, body: { rows, expected_version: expectedVersion } }));
}
