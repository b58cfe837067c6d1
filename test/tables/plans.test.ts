import pg from 'pg';
import { expect, it } from 'vitest';
import { ok } from '../setup/api.ts';
import { useWorkbook } from './tableDriver.ts';

/** What requests ask of the database, behind the wall between accounts, where an index serves fewer statements than elsewhere. */

const { api, world } = await useWorkbook();
const many = 3_000;

interface Statement {
  text: string;
  values: unknown[];
}

/** The named statements that go out while something is done. */
async function watchStatements(work: () => Promise<unknown>): Promise<Map<string, Statement>> {
  const sent = new Map<string, Statement>();
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function watched(this: pg.Client, ...args: unknown[]) {
    const { name, text, values } = args[0] as Statement & { name?: string };
    if (name) sent.set(name, { text, values });
    return (query as (...all: unknown[]) => unknown).apply(this, args);
  } as typeof query;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = query;
  }
  return sent;
}

/** Many tables in the workbook, and many entries in the log of the one that is asked for. */
async function crowd(table: string): Promise<void> {
  const others = `FROM tables t, generate_series(1, ${many}) n WHERE t.name = '${table}' AND t.workbook_id = '${world.workbookId}'`;
  await api.sql.query(`
    INSERT INTO tables (id, workbook_id, account_id, name, layer, state, edit_version, version_uid, manifest_id, schema_version, row_count,
                        next_row_id, next_column_id, created_at, updated_at)
    SELECT t.id || n, t.workbook_id, t.account_id, 'other' || n, t.layer, CASE WHEN n % 2 = 0 THEN 'active' ELSE 'archived' END, 1, 'uid' || n,
           t.manifest_id || n, 1, 0, 1, 1, now(), now() ${others};
    INSERT INTO manifests (id, table_id, layers, created_at) SELECT t.manifest_id || n, t.id || n, '[]', now() ${others};
    INSERT INTO table_columns (table_id, account_id, column_id, from_version, name, type, position) SELECT t.id || n, t.account_id, 1, 1, 'a', 'VARCHAR', 1 ${others};
    INSERT INTO row_log (table_id, edit_version, row_id, op, changed, cells) SELECT t.id, 2, n + 1000, 'U', '{1}', '{"1": "x"}' ${others};
    ANALYZE`);
}

function asLiteral(value: unknown): string {
  if (Array.isArray(value)) return pg.escapeLiteral(`{${value.map((each) => JSON.stringify(String(each)))}}`);
  return value === null ? 'NULL' : pg.escapeLiteral(String(value));
}

it('is found by keys, however much lies beside it', async () => {
  const table = await world.makeTable('Plain', [{ name: 'a' }]);
  await table.upsert([{ a: 'first' }]);
  const path = { workbook_id: world.workbookId };
  const sent = await watchStatements(async () => {
    ok(await table.upsert([{ __svc_row_id: 1, a: 'changed' }]));
    await table.read({ limit: 1 });
    ok(await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/query', { params: { path }, body: { sql: 'SELECT * FROM plain' } }));
    ok(
      await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/tables', {
        params: { path },
        body: { name: 'b', columns: [{ name: 'a' }] },
      }),
    );
    const id = { ...path, name: 'b' };
    ok(await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/artifacts/{name}/archive', { params: { path: id } }));
    ok(await world.owner.client.POST('/api/v1/workbooks/{workbook_id}/artifacts/{name}/unarchive', { params: { path: id } }));
  });
  for (const name of ['visible_workbook', 'current_table_active', 'current_table_archived', 'newest_of_rows'])
    expect([...sent.keys()]).toContain(name);

  await crowd('Plain');
  const { rows: found } = await api.sql.query<{ account: string }>('SELECT account_id AS account FROM workbooks WHERE id = $1', [
    world.workbookId,
  ]);
  // Where no index can serve a statement, it reads the whole table even so.
  const options = `-c svc.accounts=${found[0]?.account} -c enable_seqscan=off -c plan_cache_mode=force_generic_plan`;
  const client = new pg.Client({ connectionString: api.running.services.config.databaseUrl, options });
  await client.connect();
  try {
    let explained = 0;
    for (const [name, { text, values }] of sent) {
      if (text.includes('svc_') || name === 'current_tables' || name === 'active_names') continue;
      await client.query(`PREPARE asked AS ${text}`);
      const { rows } = await client.query(`EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) EXECUTE asked(${values.map(asLiteral)})`);
      await client.query('DEALLOCATE asked');
      const plan = rows.map((row) => row['QUERY PLAN'] as string);
      const removed = plan.flatMap((line) => /Rows Removed by [^:]+: (\d+)/.exec(line)?.[1] ?? []).map(Number);
      expect([name, plan.filter((line) => line.includes('Seq Scan')), Math.max(0, ...removed)]).toEqual([
        name,
        [],
        expect.toSatisfy((n: number) => n < 100),
      ]);
      explained += 1;
    }
    expect(explained).toBeGreaterThanOrEqual(5);
  } finally {
    await client.end();
  }
});
