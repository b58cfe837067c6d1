import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApi, type TestApi } from '../setup/api.ts';
let api: TestApi;
beforeAll(async () => { api = await startTestApi(); });
afterAll(async () => { await api.stop(); });
it('smoke', async () => {
  const t0 = performance.now();
  const p = await api.signUp();
  console.log('signup', performance.now() - t0);
  const r = await p.client.GET('/api/v1/me');
  console.log(r.response.status, JSON.stringify(r.data ?? r.error));
  for (let i = 0; i < 20; i++) { const t = performance.now(); await p.client.POST('/api/v1/workbooks', { body: { title: 'x' } }); if (i > 16) console.log(performance.now() - t); }
});
