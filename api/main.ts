import { loadServiceConfig } from '../store/config.ts';
import { runService } from '../store/lifecycle.ts';
import { startApi } from './server.ts';

/** The API as a process. */
await runService('api', async () => {
  const api = await startApi(loadServiceConfig());
  // At start-up, so that a machine that cannot isolate queries is noticed at once.
  await api.services.sandbox();
  // Connects in advance; failures are reported by whoever needs it.
  api.services.temporal().catch(() => {});
  return api;
});
