import { loadServiceConfig } from '../store/config.ts';
import { runService } from '../store/lifecycle.ts';
import { openServices } from '../store/services.ts';
import { serveApi } from './server.ts';

/** The API as a process. */
await runService('api', async () => {
  const services = await openServices(loadServiceConfig(), 'api');
  // Connects in advance; failures are reported by whoever needs it.
  services.temporal().catch(() => {});
  // At start-up, so that a machine that cannot isolate queries is noticed at once. What needs no query is answered meanwhile.
  const [api] = await Promise.all([serveApi(services), services.sandbox()]);
  return api;
});
