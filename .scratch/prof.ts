import { withRig } from '../bench/services.ts';
import { TableRig, post, get } from '../bench/tableRig.ts';
import { openRelation, openUnmasked, requireTable } from '../activities/tables/openTable.ts';
import { listTables } from '../store/pg/tables.ts';
import { listCurrentTables } from '../store/pg/tables.ts';
import { runQuery } from '../activities/query/runQuery.ts';
import { requireWorkbook } from '../activities/access.ts';
import { readRows } from '../activities/rows/readRows.ts';
import { median } from '../bench/measure.ts';
import { createTailTable } from '../store/duckdb/relation.ts';
import { performance } from 'node:perf_hooks';
await withRig(async (rig) => {
  const t = await TableRig.open(rig);
  await t.makeTable('large', 1_000_000); await t.addDeltas('large', 1_000_000);
  const s = t.services;
  const acc = new Map<string, number[]>();
  const step = async <T>(n: string, f: () => Promise<T>) => { const b = performance.now(); const r = await f(); (acc.get(n) ?? acc.set(n, []).get(n))!.push(performance.now() - b); return r; };
  const sandbox = await s.sandbox();
  for (const sql of ['SELECT 1 AS x', 'SELECT * FROM large WHERE c1 = 3500000']) {
    acc.clear();
    for (let i = 0; i < 20; i++) {
      await step('http', () => post(rig, `${t.base}/query`, { sql }));
      await step('requireWorkbook', () => requireWorkbook(s, t.principal, t.workbook.id, 'viewer'));
      await step('runQuery', () => runQuery(s, t.principal, t.workbook, { sql, params: null, limit: 1000, timeoutMs: 30000, at: null }));
      await step('listTables', () => listTables(s.db.orm, { workbookId: t.workbook.id, state: 'active' }));
      const plan = await step('analyze', () => sandbox.analyze({ accountId: t.workbook.accountId, sql, tables: [{ name: 'large' }] }));
      const tables = await step('listCurrent', () => listCurrentTables(s.db.pool, t.workbook.id, plan.tables));
      
      const rels = await step('openRelation', () => Promise.all(tables.map((at) => openRelation(s, at, t.principal))));
      const blobs = await s.blobs.open(rels.flatMap((r) => r.files));
      for (const keep of [true, false]) {
        const a = await step('run keep=' + keep, () => sandbox.run({ accountId: t.workbook.accountId, sql, relations: rels, pathOf: blobs.pathOf, pageLimit: 1000, timeoutMs: 30000, keepResult: keep, maxRows: 5e6, maxBytes: 5e8 }));
        if (a.resultFile) await step('put', () => s.blobs.put(`${t.workbook.accountId}/${t.workbook.id}/results`, a.resultFile!, 'parquet'));
        (acc.get('elapsed') ?? acc.set('elapsed', []).get('elapsed'))!.push(a.elapsedMs);
      }
      const noTail = rels.map((r) => ({ ...r, tail: null, select: (p: any) => { const full = r.select(p, 'x'); return `SELECT * FROM (${full.replace(/SELECT [^()]*FROM "x" UNION ALL /, '')})`; } }));
      if (rels.length) await step('run no tail', () => sandbox.run({ accountId: t.workbook.accountId, sql, relations: noTail as any, pathOf: blobs.pathOf, pageLimit: 1000, timeoutMs: 30000, keepResult: false, maxRows: 5e6, maxBytes: 5e8 }).catch((e)=>console.log(e.message)));
      await new Promise((r) => setTimeout(r, 60));
    }
    console.log(sql); for (const [n, v] of acc) console.log('  ', n.padEnd(20), median(v).toFixed(1));
  }
  acc.clear();
  const at = await t.open('large');
  for (let i = 0; i < 20; i++) {
    await step('http page', () => get(rig, `${t.base}/tables/large/rows?limit=100`));
    await step('requireTable', () => requireTable(s, t.workbook.id, 'large'));
    await step('readRows', () => readRows(s, t.principal, at, { limit: 100 }));
    await step('open ids []', () => openRelation(s, at, t.principal, { ids: [] }));
    await step('open window', () => openRelation(s, at, t.principal, { min: 1, max: 2000 }));
  }
  for (const [n, v] of acc) console.log('  ', n.padEnd(20), median(v).toFixed(1));
});
