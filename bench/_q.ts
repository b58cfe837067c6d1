import { acrossAccounts } from '../store/pg/whoseRows.ts';
import { withRig } from './services.ts';
import { post, TableRig } from './tableRig.ts';

await withRig(
  (rig) =>
    acrossAccounts(async () => {
      const t = await TableRig.open(rig);
      await t.makeTable('large', 1_000_000);
      await t.addDeltas('large', 1_000_000);
      for (const sql of ['SELECT 1 AS x', 'SELECT * FROM large WHERE c1 = 3500000']) {
        for (let i = 0; i < 20; i++) await post(rig, `${t.base}/query`, { sql });
        process.env.TRACE = '1';
        for (let i = 0; i < 4; i++) {
          const a = performance.now();
          await post(rig, `${t.base}/query`, { sql });
          console.log('http', (performance.now() - a).toFixed(1));
          await new Promise((r) => setTimeout(r, 50));
        }
        delete process.env.TRACE;
      }
      process.exit(0);
    }),
  { workflows: false },
);
