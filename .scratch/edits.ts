import { withRig } from '../bench/services.ts';
import { TableRig } from '../bench/tableRig.ts';
import { benchRowEdits, benchManyClients, benchWideUpsert } from '../bench/tableEdits.ts';
await withRig(async (rig) => {
  const t = await TableRig.open(rig);
  const which = process.argv[2] ?? 'abc';
  if (which.includes('a')) { await t.makeTable('large', 1_000_000); await t.addDeltas('large', 1_000_000); await t.makeTable('small', 10_000); await t.addDeltas('small', 10_000);
  await benchRowEdits(t, { large: 'large', small: 'small' }); }
  if (which.includes('b')) { const eight = Array.from({ length: 8 }, (_, i) => `one_of_eight_${i}`);
  for (const name of eight) await t.makeTable(name, 10_000);
  await benchManyClients(t, eight); }
  if (which.includes('c')) await benchWideUpsert(t);
});
