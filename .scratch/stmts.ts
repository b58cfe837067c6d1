import { withRig } from '../bench/services.ts';
import { TableRig, post } from '../bench/tableRig.ts';
import pg from 'pg';
import { median } from '../bench/measure.ts';
import { makeId } from '../store/services.ts';
import { openSync, writeSync, fsyncSync, closeSync } from 'node:fs';
await withRig(async (rig) => {
  const fd = openSync('/tmp/fsynctest', 'w'); const ts: number[] = []; for (let i = 0; i < 50; i++) { writeSync(fd, 'x'.repeat(8192)); const b = performance.now(); fsyncSync(fd); ts.push(performance.now() - b); } console.log('fsync', median(ts).toFixed(2)); closeSync(fd);
  const t = await TableRig.open(rig); await t.makeTable('large', 100_000); await t.addDeltas('large', 100_000);
  const statements: any[] = []; const q = pg.Client.prototype.query;
  (pg.Client.prototype as any).query = function (...a: any[]) { const [f, s] = a; if (typeof f === 'string') statements.push({ text: f, values: Array.isArray(s) ? s : [] }); else if (f?.text) statements.push({ name: f.name, text: f.text, values: f.values ?? (Array.isArray(s) ? s : []) }); return (q as any).apply(this, a); };
  await post(rig, `${t.base}/tables/large/rows`, { expected_version: null, rows: [{ __svc_row_id: 77, c2: 'x' }] });
  (pg.Client.prototype as any).query = q;
  const c = new pg.Client({ connectionString: rig.config.databaseUrl }); await c.connect();
  let v = (await t.open('large')).editVersion; const acc = statements.map(() => [] as number[]);
  for (let i = 0; i < 60; i++) { for (const [k, s] of statements.entries()) { const vals = s.name === 'edit_table' ? s.values.with(1, v).with(2, makeId('ver')) : s.values; const b = performance.now(); await (vals.length ? c.query({ name: s.name, text: s.text, values: vals }) : c.query(s.text)); acc[k].push(performance.now() - b); } v++; }
  statements.forEach((s, k) => console.log(median(acc[k]).toFixed(2), s.name ?? '', s.text.replace(/\s+/g, ' ').slice(0, 110)));
  await c.end();
});
