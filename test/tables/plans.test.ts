import pg from 'pg';
import { expect, it } from 'vitest';
import { ok } from '../setup/api.ts';
import { makeWorkbook, makeWorkspace } from '../setup/credentials.ts';
import { crowdTables } from '../setup/crowd.ts';
import { type Statement, watchStatements } from '../setup/statements.ts';
import { makeWorkbookWith, useWorkbook } from './tableDriver.ts';

/** What requests ask of the database, behind the wall between accounts, where an index serves fewer statements than elsewhere. */

const { api, world } = await useWorkbook();
const many = 3_000;

/** Many tables in the workbook, and many entries in the log of the one that is asked for. */
async function crowd(table: string): Promise<void> {
  const { workbookId } = world;
  await crowdTables(api.sql, { workbookId, table }, { count: many, name: 'other', column: 'a', alsoArchived: true });
  await api.sql.query(`
    INSERT INTO row_log (table_id, edit_version, row_id, op, changed, cells)
    SELECT t.id, 2, n + 1000, 'U', '{1}', '{"1": "x"}'
    FROM tables t, generate_series(1, ${many}) n WHERE t.name = '${table}' AND t.workbook_id = '${workbookId}';
    ANALYZE`);
}

function asLiteral(value: unknown): string {
  if (Array.isArray(value)) return pg.escapeLiteral(`{${value.map((each) => JSON.stringify(String(each)))}}`);
  return value === null ? 'NULL' : pg.escapeLiteral(String(value));
}

/** Each finds its rows by an index, and looks at few others. */
async function expectFoundByIndex(accounts: string[], statements: Map<string, Statement>): Promise<void> {
  // Where no index can serve a statement, it reads the whole table even so.
  const options = `-c svc.accounts=${accounts.join(',')} -c enable_seqscan=off`;
  const client = new pg.Client({ connectionString: api.running.services.config.databaseUrl, options });
  await client.connect();
  try {
    for (const [name, { name: isNamed, text, values }] of statements) {
      // One that only adds a row looks for nothing.
      if (/^INSERT INTO \w+ \([^()]*\) VALUES \([$\d, ]*\)(\s+RETURNING set_config\(.*\))?$/.test(text)) continue;
      // A statement with a name is planned once, for any values; one without, each time for those that it has.
      await client.query(`SET plan_cache_mode = ${isNamed ? 'force_generic_plan' : 'force_custom_plan'}`);
      await client.query(`PREPARE asked AS ${text}`);
      const given = values.length === 0 ? '' : `(${values.map(asLiteral)})`;
      const { rows } = await client.query(`EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) EXECUTE asked${given}`);
      await client.query('DEALLOCATE asked');
      const plan = rows.map((row) => row['QUERY PLAN'] as string);
      const removed = plan.flatMap((line) => /Rows Removed by [^:]+: (\d+)/.exec(line)?.[1] ?? []).map(Number);
      expect([name, plan.filter((line) => line.includes('Seq Scan')), Math.max(0, ...removed)]).toEqual([
        name,
        [],
        expect.toSatisfy((n: number) => n < 100),
      ]);
    }
  } finally {
    await client.end();
  }
}

async function findAccount(workbookId: string): Promise<string> {
  const { rows } = await api.sql.query<{ account: string }>('SELECT account_id AS account FROM workbooks WHERE id = $1', [workbookId]);
  return rows[0]?.account as string;
}

it('is found by keys, however much lies beside it', async () => {
  const table = await world.makeTable('Plain', [{ name: 'a' }]);
  await table.upsert([{ a: 'first' }]);
  const path = { workbook_id: world.workbookId };
  const statements = await watchStatements(async () => {
    ok(await table.upsert([{ __svc_row_id: 1, a: 'changed' }]));
    await table.read({ limit: 1 });
    ok(await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/query', { params: { path }, body: { sql: 'SELECT * FROM plain' } }));
    ok(
      await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/query/validate', {
        params: { path },
        body: { sql: 'SELECT * FROM plain' },
      }),
    );
    await world.makeTable('b', [{ name: 'a' }]);
    const id = { ...path, name: 'b' };
    ok(await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/artifacts/{name}/archive', { params: { path: id } }));
    ok(await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/artifacts/{name}/unarchive', { params: { path: id } }));
  });
  const sent = new Map(statements.flatMap((each): [string, Statement][] => (each.name ? [[each.name, each]] : [])));
  for (const name of ['visible_workbook', 'current_table_active', 'current_table_archived', 'named_tables', 'newest_of_rows'])
    expect([...sent.keys()]).toContain(name);

  await crowd('Plain');
  const explained = [...sent].filter(([, { text }]) => !text.includes('svc_'));
  expect(explained.length).toBeGreaterThanOrEqual(5);
  await expectFoundByIndex([await findAccount(world.workbookId)], new Map(explained));
});

it('lists what a session may see by the accounts of its user, however much others have', async () => {
  const { owner, workbookId, makeTable } = await makeWorkbookWith(api);
  await makeTable('Plain', [{ name: 'a' }]);
  const [host, stranger] = [await api.signUp(), await api.signUp()];
  // A member of somebody else's workspace has two accounts to look into.
  const workspaceId = await makeWorkspace(host.client, 'shared');
  const shared = await makeWorkbook(host.client, 'shared', workspaceId);
  ok(
    await host.client.POST('/api/control/workspaces/{workspace_id}/users', {
      params: { path: { workspace_id: workspaceId } },
      body: { email: owner.email, role: 'viewer' },
    }),
  );
  const foreign = await makeWorkbook(stranger.client, 'foreign');
  const listed: [string, () => Promise<unknown>][] = [
    ['workbooks', async () => ok(await owner.client.GET('/api/v1/me/workbooks'))],
    ['workspaces', async () => ok(await owner.client.GET('/api/v1/me/workspaces'))],
    ['jobs', async () => ok(await owner.client.GET('/api/v1/jobs'))],
    ['data', async () => ok(await owner.client.GET('/api/v1/me/data', { params: { query: { limit: 2 } } }))],
    ['search', async () => ok(await owner.client.GET('/api/v1/search', { params: { query: { q: 'plain' } } }))],
  ];
  const explained = new Map<string, Statement>();
  for (const [what, list] of listed) {
    const statements = await watchStatements(list);
    const found = statements.filter(({ name, text }) => !name && /^select/i.test(text));
    expect([what, found.length > 0]).toEqual([what, true]);
    for (const [i, statement] of found.entries()) explained.set(`${what} ${i}`, statement);
  }

  const others = `FROM workbooks w, generate_series(1, ${many}) n WHERE w.id = '${foreign}'`;
  await api.sql.query(`
    INSERT INTO workspaces (id, account_id, name, kind) SELECT w.workspace_id || n, w.account_id, 'other' || n, 'managed' ${others};
    INSERT INTO workbooks (id, account_id, workspace_id, owner_id, title, visibility)
    SELECT w.id || n, w.account_id, w.workspace_id || n, w.owner_id, 'other', 'workspace' ${others};
    INSERT INTO jobs (id, kind, account_id, workbook_id, user_id, workflow_id)
    SELECT 'job_' || n, 'test', w.account_id, w.id, w.owner_id, 'none' ${others};
    INSERT INTO tables (id, workbook_id, account_id, name, layer, edit_version, version_uid, manifest_id, schema_version, row_count, next_row_id,
                        next_column_id, created_at, updated_at)
    SELECT 'tbl_other' || n, w.id || n, w.account_id, 'plain', 'base', 1, 'uid' || n, 'none', 1, 0, 1, 1, now(), now() ${others};
    ANALYZE`);
  await expectFoundByIndex([await findAccount(workbookId), await findAccount(shared)], explained);
});
