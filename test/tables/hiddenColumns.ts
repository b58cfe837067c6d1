import { expect } from 'vitest';
import { compactTable } from '../../activities/compaction/compactTable.ts';
import { compactionLimits } from '../../core/table/compactionLimits.ts';
import { makeId } from '../../store/services.ts';
import { ok } from '../setup/api.ts';
import { makeChart } from '../setup/charts.ts';
import { setPolicy } from '../setup/governance.ts';
import type { TestStore } from './store.ts';
import { driveTable } from './tableDriver.ts';

/** Every name and value says which column it is of. */
export const columnName = (n: number) => `col_${n}_`;
export const cellText = (n: number, row: number | string) => `val_${n}_${row}`;

/** Their widths. */
export const tables = { narrow: 8, wide: 520 };

export const formats = [
  'application/json',
  'application/x-ndjson',
  'application/vnd.apache.arrow.stream',
  'text/csv',
  'application/vnd.apache.parquet',
];
/** Each way to ask in each format; of a wide table, where that takes long, each way in one of them, and each format once. */
export const inFormats = (table: string, paths: string[]) =>
  paths.flatMap((path, i) =>
    formats
      .filter((_, k) => table !== 'wide' || k === i % formats.length || (i === 0 && k >= paths.length))
      .map((accept) => ({ path, accept })),
  );

/** Makes the tables, and all that can be made of them: sheets, charts, transforms, bindings, notes, a branch, conflicts. */
export async function fillHidden(store: TestStore, token: string) {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const begun = await store.api.fetch('/mcp', {
    method: 'POST',
    token,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  });
  const mcpSession = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
  for (const [name, width] of Object.entries(tables)) {
    const all = Array.from({ length: width }, (_, n) => n);
    const id = await store.makeTable(
      name,
      all.map((n) => ({ name: columnName(n), type: 'VARCHAR' })),
    );
    const rowOf = (row: number | string) => Object.fromEntries(all.map((n) => [columnName(n), cellText(n, row)]));
    await store.upsert(
      name,
      Array.from({ length: 6 }, (_, row) => rowOf(row)),
    );
    // In a file, in the log, and gone again.
    await compactTable(store.services, id, { heartbeat() {} }, { ...compactionLimits, tail: 0, deltaShare: -1 });
    await store.upsert(name, [{ __svc_row_id: 4, ...rowOf('changed') }, rowOf('new')]);
    await store.remove(name, [2]);
    const named = all.map(columnName).slice(0, 500);
    const sheet = await store.api.fetch(`/api/v1/workbooks/${store.workbook.id}/sheets/of_${name}`, {
      method: 'PUT',
      token: store.owner.session,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        spec: {
          blocks: [
            { kind: 'table_view', table: name, columns: named },
            { kind: 'table_view', table: name },
          ],
        },
      }),
    });
    expect(sheet.status).toBe(201);
    const shown = named.map((each) => `datum.${each}`).join('+');
    const config = {
      mark: 'text',
      transform: [{ calculate: `datum.${columnName(0)}+${shown}`, as: 'all' }],
      encoding: { text: { field: 'all' } },
    };
    await makeChart(store.api, store.owner.session, { workbookId: store.workbook.id, name: `chart_of_${name}`, table: name, config });
  }
  for (const [name, width] of Object.entries(tables))
    ok(
      await store.owner.client.POST('/api/v1/workbooks/{workbook_id}/transforms', {
        params: { path: { workbook_id: store.workbook.id } },
        body: {
          name: `every_of_${name}`,
          language: 'sql',
          template: `SELECT ${Array.from({ length: width }, (_, n) => columnName(n)).join(', ')} FROM {{ t }}`,
          args: { t: name },
          key: Array.from({ length: tables.narrow }, (_, n) => columnName(n)),
          run: false,
        },
      }),
    );
  const narrow = driveTable(store.owner, store.workbook.id, 'narrow');
  for (const [name, width] of Object.entries(tables)) {
    const owners = Object.fromEntries(Array.from({ length: width }, (_, n) => [columnName(n), 'x']));
    const body = {
      actor: 'test',
      external_kind: 'onedrive' as const,
      external_ref: name,
      direction: 'push' as const,
      ownership_map: owners,
    };
    const params = { path: { workbook_id: store.workbook.id, name } };
    ok(await store.owner.client.POST('/api/v1/workbooks/{workbook_id}/artifacts/{name}/sync-bindings', { params, body }));
  }
  const undone = ok(await narrow.upsert([{ __svc_row_id: 5, [columnName(0)]: 'val_0_first', [columnName(1)]: 'val_1_first' }])).op_id;
  ok(await narrow.upsert([{ __svc_row_id: 5, [columnName(0)]: 'val_0_again', [columnName(1)]: 'val_1_again' }]));
  const targets = Array.from({ length: tables.narrow }, (_, n) => ({ target: { row_id: 1, column: columnName(n) }, note: 'n' }));
  ok(await narrow.annotate(targets));
  const exported = await store.api.fetch(`/api/v1/workbooks/${store.workbook.id}/export`, {
    method: 'POST',
    token: store.owner.session,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ tables: ['narrow'], format: 'csv', record_branch: true }),
  });
  await exported.arrayBuffer();
  const branch = exported.headers.get('x-svc-branch-id') ?? '';
  ok(await narrow.upsert([{ __svc_row_id: 1, [columnName(0)]: 'val_0_meanwhile' }]));
  const conflictIds = Array.from({ length: tables.narrow }, () => makeId('cfl'));
  await store.api.sql.query(
    `INSERT INTO conflicts (id, table_id, workbook_id, account_id, row_id, column_id, kind, status, base, prior, current, edit_version, created_at)
     SELECT c.id, t.id, t.workbook_id, t.account_id, 1, c.n, 'overwrite', 'open', v || 'base', v || 'prior', v || 'now', t.edit_version, now()
     FROM unnest($2::text[]) WITH ORDINALITY AS c(id, n), LATERAL (SELECT 'val_' || (c.n - 1) || '_' AS v) x, tables t
     WHERE t.name = 'narrow' AND t.workbook_id = $1`,
    [store.workbook.id, conflictIds],
  );
  for (const effect of ['mask', 'deny'] as const) await setPolicy(store.owner.client, store.workbook.id, effect, effect);
  return { mcpSession, undone, branch, conflictIds };
}
