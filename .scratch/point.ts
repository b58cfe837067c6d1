import { withRig } from '../bench/services.ts';
import { TableRig } from '../bench/tableRig.ts';
import { openUnmasked } from '../activities/tables/openTable.ts';
import { buildRelation } from '../store/duckdb/buildRelation.ts';
import { quoteName } from '../store/duckdb/relation.ts';
await withRig(async (rig) => {
  const t = await TableRig.open(rig);
  await t.makeTable('small', 10_000); await t.makeTable('large', 1_000_000); await t.addDeltas('large', 1_000_000);
  for (const name of ['small', 'large']) {
  const at = await t.open(name);
  const rel = buildRelation(at, [], new Map(), { ids: [5555] });
  const o = await t.services.blobs.open(rel.files);
  const cols = at.columns.map((c) => `CAST(${quoteName(c.name)} AS VARCHAR)`);
  const sql = `SELECT CAST(__svc_row_id AS VARCHAR), ${cols.join(', ')} FROM (${rel.select(o.pathOf, 'x')})`;
  const path = o.pathOf(rel.files[0]);
  const plain = `SELECT * FROM read_parquet('${path}') WHERE __svc_row_id = 5555`;
  const plain2 = `SELECT * FROM read_parquet('${path}') WHERE __svc_row_id IN (5555)`;
  const narrow = `SELECT c2 FROM read_parquet('${path}') WHERE __svc_row_id = 5555`;
  const m = async (n: string, f: () => Promise<any>) => { const ts = []; const cpu = process.cpuUsage(); for (let k = 0; k < 40; k++) { const b = performance.now(); await f(); ts.push(performance.now() - b); } const c = process.cpuUsage(cpu); ts.sort((a, b) => a - b); console.log(name, n.padEnd(26), 'best', ts[0].toFixed(2), 'med', ts[20].toFixed(2), 'cpu', ((c.user + c.system) / 40e3).toFixed(2)); };
  await t.services.engine.use(async (c) => {
    for (const threads of [2, 1]) { await c.run(`SET threads = ${threads}`); console.log('threads', threads, rel.files.length, 'files');
    await m('now', () => c.runAndReadAll(sql));
    await m('prepare only', () => c.prepare(sql));
    const st = await c.prepare(sql);
    await m('exec prepared', () => st.runAndReadAll());
    await m('plain', () => c.runAndReadAll(plain));
    await m('plain prepare', () => c.prepare(plain));
    await m('plain IN', () => c.runAndReadAll(plain2));
    await m('narrow', () => c.runAndReadAll(narrow));
    await m('select 1', () => c.runAndReadAll('select 1'));
    }
    await c.run('SET threads=2');
  }); }
});
