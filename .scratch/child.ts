import { withRig } from '../bench/services.ts';
import { TableRig } from '../bench/tableRig.ts';
import { openUnmasked } from '../activities/tables/openTable.ts';
import { openSession } from '../store/duckdb/sandbox/child/session.ts';
import { createTailTable, quoteName } from '../store/duckdb/relation.ts';
import { execute } from '../store/duckdb/sandbox/child/execute.ts';
import { analyze } from '../core/sql/analyze.ts';
import { median } from '../bench/measure.ts';
import { mkdirSync } from 'node:fs';
await withRig(async (rig) => {
  const t = await TableRig.open(rig);
  await t.makeTable('large', 1_000_000); await t.addDeltas('large', 1_000_000);
  const rel = await openUnmasked(t.services, await t.open('large'));
  const opened = await t.services.blobs.open(rel.files);
  const acc = new Map<string, number[]>();
  const step = async <T>(n: string, f: () => Promise<T>) => { const b = performance.now(); const r = await f(); (acc.get(n) ?? acc.set(n, []).get(n))!.push(performance.now() - b); return r; };
  mkdirSync('/tmp/outx', { recursive: true });
  const sql = 'SELECT * FROM large WHERE c1 = 3500000';
  const dir = opened.pathOf(rel.files[0]).replace(/\/[^/]*$/, '');
  for (const cache of [false, true]) { acc.clear();
  for (let i = 0; i < 20; i++) {
    const s = await step('open', () => openSession({ openDir: dir, outDir: '/tmp/outx' }));
    if (cache) {}
    await step('serialize', () => s.own.runAndReadAll('SELECT CAST(json_serialize_sql(CAST($1 AS VARCHAR)) AS VARCHAR)', [sql]));
    await step('lock', () => s.lock());
    await step('tail', () => s.user.run(createTailTable('tail', rel.tail!), [rel.tail!.json]));
    await step('view', () => s.user.run(`CREATE TEMP VIEW large AS ${rel.select(opened.pathOf, 'tail')}`));
    await step('prepare', () => s.user.prepare(sql));
    const st = await s.user.prepare(sql);
    await step('exec', () => st.runAndReadAll());
    await step('exec again', () => st.runAndReadAll());
    await step('execute', () => execute(s, { sql, params: {} as any }, { pageLimit: 1000, maxRows: 1e6, maxBytes: 1e9, maxPageBytes: 1e7, resultFile: 'r.parquet' }, '/tmp/outx', { passed: false }));
    await step('close', async () => s.close());
  }
  for (const [n, v] of acc) console.log('  ', n.padEnd(20), median(v).toFixed(1)); console.log(rel.select((k)=>k.slice(-10),'tail').length);}
});
