import { setTimeout as delay } from 'node:timers/promises';
import { ok } from '../setup/api.ts';
import { editRows } from '../setup/tables.ts';
import type { UploadAnswer, useWorld } from './world.ts';

/** Ways to send a file again, and to look at what came of it. */
export function withRevisions(world: Awaited<ReturnType<typeof useWorld>>) {
  const send = (workbookId: string, name: string, bytes: Uint8Array, filename = name) =>
    world.send(filename, bytes, { path: `/api/v1/workbooks/${workbookId}/sources/${encodeURIComponent(name)}/revise` });

  async function revise(workbookId: string, name: string, bytes: Uint8Array): Promise<UploadAnswer> {
    const response = await send(workbookId, name, bytes);
    const body = await response.json();
    if (response.status !== 200) throw new Error(JSON.stringify(body));
    return body as UploadAnswer;
  }

  const at = (workbookId: string, name: string) => ({ workbook_id: workbookId, name });
  const getTable = async (workbookId: string, name: string) =>
    ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}', { params: { path: at(workbookId, name) } }));
  const readAt = async (workbookId: string, name: string, version: number) => {
    const params = { path: at(workbookId, name), query: { at_version: version, limit: 1000 } };
    const page = ok(await world.owner.client.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/rows', { params }));
    return (page as unknown as { rows: Record<string, unknown>[] }).rows;
  };
  const editRow = (workbookId: string, name: string, cells: Record<string, unknown>, version: number | null = null) =>
    editRows(world.owner.client, workbookId, name, [cells], version);
  const columnIds = async (workbookId: string, name: string) =>
    (
      await world.api.sql.query<{ name: string; column_id: number }>(
        `SELECT c.name, c.column_id FROM table_columns c JOIN tables t ON t.id = c.table_id
         WHERE t.workbook_id = $1 AND t.name = $2 AND c.to_version IS NULL ORDER BY c.position`,
        [workbookId, name],
      )
    ).rows.map((row) => [row.name, row.column_id]);

  async function waitForJobOf(sourceId: string): Promise<string> {
    for (;;) {
      const { rows } = await world.api.sql.query<{ job_id: string | null }>('SELECT job_id FROM sources WHERE id = $1', [sourceId]);
      if (rows[0]?.job_id) return rows[0].job_id;
      await delay(20);
    }
  }

  async function waitForStage(jobId: string, stage: string): Promise<void> {
    while ((await world.getJob(jobId)).progress?.stage !== stage) await delay(20);
  }

  return { send, revise, at, getTable, readAt, editRow, columnIds, waitForJobOf, waitForStage };
}
