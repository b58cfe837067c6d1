import { it } from 'vitest';
import { ok, startTestApi } from '../setup/api.ts';
import { makeWorkbookWith } from './tableDriver.ts';
it('t', async () => {
  const api = await startTestApi({ SVC_RATE_LIMITS: 'off' });
  const world = await makeWorkbookWith(api);
  const table = await world.makeTable('large', [{name:'a'},{name:'n',type:'BIGINT'}, { name: 'at', type: 'TIMESTAMP' }, { name: 'f', type: 'DOUBLE' }]);
  const t = async <T>(n: string, p: Promise<T>) => { const s = performance.now(); const r = await p; console.log(n, Math.round(performance.now() - s)); return r; };
  const rows = Array.from({ length: 3000 }, (_, i) => ({ a: `t ${i} "q", \\N`, n: i, at: '2024-04-01T10:00:00.25', f: i / 4 }));
  const inserted = ok(await t('insert', table.upsert(rows)));
  await t('read', table.read({ limit: 10000 }));
  const updated = ok(await t('update', table.upsert(inserted.row_ids.slice(0, 2500).map((id) => ({ __svc_row_id: id, a: null, f: 2 })))));
  await t('undo409', world.undo(inserted.op_id));
  await t('undo', world.undo(updated.op_id));
  const deleted = ok(await t('remove', table.remove(inserted.row_ids.slice(100, 2100))));
  await t('undo', world.undo(deleted.op_id));
  await t('undo', world.undo(inserted.op_id));
  await api.stop();
});
