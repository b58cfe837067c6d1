import pg from 'pg';
import { expect, it } from 'vitest';
import { ok } from '../setup/api.ts';
import { crowdTables } from '../setup/crowd.ts';
import { type Statement, watchStatements } from '../setup/statements.ts';
import { useWorkbook } from './tableDriver.ts';

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

it('is found by keys, however much lies beside it', async () => {
  const table = await world.makeTable('Plain', [{ name: 'a' }]);
  await table.upsert([{ a: 'first' }]);
  const path = { workbook_id: world.workbookId };
  const statements = await watchStatements(async () => {
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
  const sent = new Map(statements.flatMap((each): [string, Statement][] => (each.name ? [[each.name, each]] : [])));
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
