import { fork } from 'node:child_process'; import { once } from 'node:events';
import { withRig } from '../bench/services.ts';
import { TableRig } from '../bench/tableRig.ts';
import { profile } from './cpu.ts';
await withRig(async (rig) => {
  const t = await TableRig.open(rig);
  const names = Array.from({ length: 8 }, (_, i) => `e${i}`);
  for (const n of names) await t.makeTable(n, 10_000);
  let first = 0;
  const run = async (clients: number, edits: number) => { const load = { url: rig.url, token: rig.token, tables: names.slice(0, clients).map((n) => ({ path: `${t.base}/tables/${n}/rows`, rows: 10000 })), edits, first }; first += edits;
    const c = fork('bench/editClient.ts', [JSON.stringify(load)], { execArgv: ['--import', 'tsx'] }); const [r] = await once(c, 'message') as any; console.log(clients, (edits * 1000 / r.elapsedMs).toFixed(0), '/s', r.latenciesMs.sort((a: number, b: number) => a - b)[edits >> 1].toFixed(1)); await once(c,'exit'); };
  await run(1, 100); await run(8, 200);
  const cpu0 = process.cpuUsage();
  await profile('one', () => run(1, 200)); const c1 = process.cpuUsage(cpu0); console.log('cpu/edit', (c1.user + c1.system) / 200e3);
  const cpu1 = process.cpuUsage();
  await profile('eight', () => run(8, 400)); const c2 = process.cpuUsage(cpu1); console.log('cpu/edit', (c2.user + c2.system) / 400e3);
});
