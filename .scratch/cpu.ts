import { Session } from 'node:inspector/promises';
import { withRig } from '../bench/services.ts';
import { TableRig, post } from '../bench/tableRig.ts';
import { writeFileSync } from 'node:fs';
export async function profile(name: string, work: () => Promise<unknown>) {
  const s = new Session(); s.connect(); await s.post('Profiler.enable'); await s.post('Profiler.setSamplingInterval', { interval: 500 }); await s.post('Profiler.start');
  const b = performance.now(); await work(); const ms = performance.now() - b;
  const { profile } = await s.post('Profiler.stop') as any; s.disconnect();
  const self = new Map<string, number>(); const dts = profile.timeDeltas; const byId = new Map(profile.nodes.map((n: any) => [n.id, n]));
  let total = 0;
  profile.samples.forEach((id: number, i: number) => { const n: any = byId.get(id); const f = n.callFrame; const k = `${f.functionName || '(anon)'} ${f.url.split('/').slice(-3).join('/')}:${f.lineNumber + 1}`; self.set(k, (self.get(k) ?? 0) + dts[i]); total += dts[i]; });
  const mod = new Map<string, number>(); profile.samples.forEach((id: number, i: number) => { const n: any = byId.get(id); const u = n.callFrame.url; const k = u === '' ? '(native) ' + n.callFrame.functionName : u.includes('node_modules') ? u.split('node_modules/').pop().split('/').slice(0, 2).join('/') : u.startsWith('node:') ? u : u.split('/wt4/').pop(); mod.set(k, (mod.get(k) ?? 0) + dts[i]); });
  console.log('modules'); for (const [k, v] of [...mod].sort((a, b) => b[1] - a[1]).slice(0, 30)) console.log('  ', (v / 1000).toFixed(0).padStart(6), 'ms', k);
  console.log(`== ${name}: ${ms.toFixed(0)} ms wall`);
  for (const [k, v] of [...self].sort((a, b) => b[1] - a[1]).slice(0, 28)) console.log('  ', (v / 1000).toFixed(0).padStart(6), 'ms', k);
}
if (process.argv[2] === 'wide') await withRig(async (rig) => {
  const t = await TableRig.open(rig);
  const kinds = ['BIGINT', 'VARCHAR', 'DOUBLE', 'DECIMAL(18,2)'];
  const columns = Array.from({ length: 200 }, (_, i) => ({ name: `w${i}`, type: kinds[i % 4] as string }));
  await post(rig, `${t.base}/tables`, { name: 'wide', columns });
  const values = Array.from({ length: 10000 }, (_, n) => Object.fromEntries(columns.map(({ name, type }, i) => [name, type==='BIGINT'?(n*31+i)%100000:type==='VARCHAR'?`v${n%1000}`:type==='DOUBLE'?((n+i)%1000)/8:`${(n+i)%1000}.25`])));
  const body = JSON.stringify({ expected_version: null, rows: values });
  await post(rig, `${t.base}/tables/wide/rows`, body);
  await profile('wide', () => post(rig, `${t.base}/tables/wide/rows`, body));
});
