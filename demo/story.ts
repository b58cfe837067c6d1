import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client as McpClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { connect, type Say, type Service, take } from './client.ts';
import { changeCell, makeWorkbook } from './makeWorkbook.ts';

const base = '/api/v1/workbooks/{workbook_id}' as const;

/** What the story needs from page to page. */
interface Telling {
  service: Service;
  client: ReturnType<typeof connect>;
  workbookId: string;
  say: Say;
  keep(name: string, bytes: Uint8Array | string): Promise<void>;
}

/** Walks from a file to its audit log, tells each step, and leaves files and pictures in the folder. */
export async function tellStory(service: Service, folder: string, say: Say): Promise<void> {
  await mkdir(folder, { recursive: true });
  const client = connect(service, say);
  say('A workbook');
  const { id } = take(await client.POST('/api/v1/workbooks', { body: { title: 'Demo 2024年度' } }));
  const telling: Telling = {
    service,
    client,
    workbookId: id,
    say,
    async keep(name, bytes) {
      await writeFile(join(folder, name), bytes);
      say(`  left ${name}`);
    },
  };
  for (const tell of [upload, derive, edit, goOffline, draw, hide, audit]) await tell(telling);
}

/** Rows in few words. */
function brief(rows: readonly Record<string, unknown>[], most = 4): string {
  const shown = rows.slice(0, most).map(({ __svc_row_id, ...cells }) => `    ${JSON.stringify(cells)}`);
  return [...shown, ...(rows.length > most ? [`    … ${rows.length} in all`] : [])].join('\n');
}

async function query({ client, workbookId, say }: Telling, sql: string): Promise<void> {
  const answer = take(await client.POST(`${base}/query`, { params: { path: { workbook_id: workbookId } }, body: { sql } }));
  say(brief((answer as unknown as { rows: Record<string, unknown>[] }).rows));
}

async function upload(telling: Telling): Promise<void> {
  const { client, workbookId, say, keep, service } = telling;
  say('\nUpload: a file as people make them becomes tables that a program can use');
  const bytes = await makeWorkbook();
  await keep('sample.xlsx', bytes);
  const form = new FormData();
  form.set('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), 'sample.xlsx');
  const path = `/api/v1/workbooks/${workbookId}/sources`;
  const sent = await fetch(`${service.url}${path}`, { method: 'POST', headers: { Authorization: `Bearer ${service.token}` }, body: form });
  say(`  POST ${path} → ${sent.status}`);
  if (!sent.ok) throw new Error(await sent.text());
  const answer = (await sent.json()) as { job_id?: string };
  if (answer.job_id) await finishJob(telling, answer.job_id);
  const { tables } = take(await client.GET(`${base}/tables`, { params: { path: { workbook_id: workbookId } } }));
  for (const { name, row_count } of tables) say(`    ${name}: ${row_count} rows`);
  await query(telling, 'SELECT 店, 期間, 値 FROM "2024年度 店別売上" ORDER BY ALL LIMIT 3');
}

async function finishJob({ client }: Telling, jobId: string): Promise<void> {
  for (;;) {
    const job = take(await client.GET('/api/v1/jobs/{job_id}', { params: { path: { job_id: jobId }, query: { wait: 30 } } }));
    if (job.status === 'failed') throw new Error(job.error);
    if (job.finished_at !== null) return;
  }
}

async function derive(telling: Telling): Promise<void> {
  const { client, workbookId, say } = telling;
  say('\nA derived table: what each store sold, with its people');
  const made = take(
    await client.POST(`${base}/transforms`, {
      params: { path: { workbook_id: workbookId } },
      body: {
        name: 'by_store',
        language: 'sql',
        materialize: 'table',
        template:
          'SELECT s.店, sum(s.値)::BIGINT AS 売上, (SELECT count(*) FROM {{ staff }} p WHERE p."Store" = s.店) AS 人数 FROM {{ sales }} s GROUP BY s.店',
        args: { sales: '2024年度 店別売上', staff: 'Staff' },
        key: ['店'],
      },
    }),
  );
  if ('job_id' in made) await finishJob(telling, made.job_id);
  await query(telling, 'SELECT * FROM by_store ORDER BY 売上 DESC');
}

async function edit(telling: Telling): Promise<void> {
  const { client, workbookId, say } = telling;
  const params = { path: { workbook_id: workbookId } };
  const freshness = async () =>
    take(await client.GET(`${base}/transforms/{name}`, { params: { path: { ...params.path, name: 'by_store' } } })).freshness;
  say('\nAn edit makes it stale');
  const edited = take(
    await client.POST(`${base}/tables/{name}/rows`, {
      params: { path: { ...params.path, name: '2024年度 店別売上' } },
      body: { rows: [{ __svc_row_id: 1, 値: 220 }], expected_version: null },
    }),
  );
  say(
    `    version ${edited.edit_version}; stale now: ${edited.stale.join(', ')}; by_store is ${(await freshness()).stale ? 'stale' : 'fresh'}`,
  );
  say('\nRecompute');
  const again = take(await client.POST(`${base}/recompute`, { params }));
  if ('job_id' in again) await finishJob(telling, again.job_id);
  say(`    by_store is ${(await freshness()).stale ? 'stale' : 'fresh'}`);
  await query(telling, 'SELECT * FROM by_store ORDER BY 売上 DESC');
}

async function goOffline(telling: Telling): Promise<void> {
  const { client, workbookId, say, keep, service } = telling;
  const params = { path: { workbook_id: workbookId } };
  say('\nExport: the table as an Excel file, whose rows are remembered as a branch');
  const exported = await client.POST(`${base}/export`, {
    params,
    body: { tables: ['Staff'], format: 'xlsx', record_branch: true },
    parseAs: 'arrayBuffer',
  });
  const bytes = new Uint8Array(take(exported) as unknown as ArrayBuffer);
  await keep('exported.xlsx', bytes);
  say('\nOffline somebody gives Inoue 5000, while online somebody gives her 4900');
  const returned = await changeCell(bytes, { row: 'Inoue', column: 'Salary' }, 5000);
  await keep('edited-offline.xlsx', returned);
  take(
    await client.POST(`${base}/tables/{name}/rows`, {
      params: { path: { ...params.path, name: 'Staff' } },
      body: { rows: [{ __svc_row_id: 2, Salary: 4900 }], expected_version: null },
    }),
  );
  say('\nMerge: the returned file wins, and the other value waits for a decision');
  const { branches } = take(await client.GET(`${base}/branches`, { params }));
  const form = new FormData();
  form.set('file', new Blob([returned as Uint8Array<ArrayBuffer>]), 'edited-offline.xlsx');
  form.set('branch_id', branches[0]?.id ?? '');
  const path = `/api/v1/workbooks/${workbookId}/tables/Staff/merge`;
  const merged = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${service.token}` },
    body: form,
  });
  say(`  POST ${path} → ${merged.status}`);
  if (!merged.ok) throw new Error(await merged.text());
  const { conflicts } = take(await client.GET(`${base}/conflicts`, { params: { ...params, query: { status: 'open' } } }));
  const [conflict] = conflicts;
  if (!conflict) throw new Error('the merge opened no conflict');
  say(
    `    conflict: ${conflict.column} of row ${conflict.row_id}: exported ${conflict.base}, online ${conflict.prior}, now ${conflict.current}`,
  );
  take(
    await client.POST(`${base}/conflicts/{conflict_id}/resolve`, {
      params: { path: { ...params.path, conflict_id: conflict.id } },
      body: { action: 'revert' },
    }),
  );
  say('    decided: what was written online stands');
  await query(telling, 'SELECT "Name", "Salary" FROM "Staff" WHERE "Name" = \'Inoue\'');
}

async function draw({ client, workbookId, say, keep, service }: Telling): Promise<void> {
  say('\nA chart, made as an agent makes it (MCP, tool create_chart), and its picture');
  const agent = new McpClient({ name: 'demo', version: '1' });
  const requestInit = { headers: { Authorization: `Bearer ${service.token}` } };
  await agent.connect(new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { requestInit }));
  const config = {
    mark: 'bar',
    encoding: { x: { field: '店', type: 'nominal', sort: '-y' }, y: { field: '売上', type: 'quantitative', title: '売上 (千円)' } },
  };
  const made = await agent.callTool({
    name: 'create_chart',
    arguments: { workbook_id: workbookId, name: 'sales', table: 'by_store', title: '店別売上', config },
  });
  if (made.isError) throw new Error(JSON.stringify(made.content));
  await agent.close();
  const params = { path: { workbook_id: workbookId, name: 'sales' } };
  await keep('sales.svg', String(take(await client.GET(`${base}/charts/{name}/svg`, { params, parseAs: 'text' }))));
  const png = take(await client.GET(`${base}/charts/{name}/png`, { params, parseAs: 'arrayBuffer' }));
  await keep('sales.png', new Uint8Array(png as unknown as ArrayBuffer));
  const lineage = await client.GET(`${base}/tables/{name}/lineage`, {
    params: { path: { workbook_id: workbookId, name: 'by_store' }, query: { format: 'svg' } },
    parseAs: 'text',
  });
  await keep('lineage.svg', String(take(lineage as { data?: unknown; response: Response })));
}

async function hide(telling: Telling): Promise<void> {
  const { client, workbookId, say } = telling;
  const path = { workbook_id: workbookId };
  say('\nA policy: what is tagged pay is masked for everybody, and so is what is made from it');
  take(
    await client.POST(`${base}/artifacts/{name}/columns/{column}/tags`, {
      params: { path: { ...path, name: 'Staff', column: 'Salary' } },
      body: { tag: 'pay' },
    }),
  );
  take(await client.PUT(`${base}/policies/{tag}`, { params: { path: { ...path, tag: 'pay' } }, body: { role: '*', effect: 'mask' } }));
  await query(telling, 'SELECT "Name", "Salary" FROM "Staff" ORDER BY ALL LIMIT 2');
}

async function audit({ client, workbookId, say }: Telling): Promise<void> {
  say('\nThe audit log: who did what, in a chain that cannot be changed unnoticed');
  const params = { path: { workbook_id: workbookId }, query: { limit: 8 } };
  const { entries, chain_valid } = take(await client.GET(`${base}/audit-log`, { params }));
  for (const { at, actor, action, target } of entries) say(`    ${at}  ${actor}  ${action}  ${target}`);
  say(`    the chain is ${chain_valid ? 'valid' : 'BROKEN'}`);
}
