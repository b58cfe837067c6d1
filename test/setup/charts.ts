import { createChart, type WantedChart } from '../../activities/charts/createChart.ts';
import { authenticate } from '../../activities/identity/authenticate.ts';
import type { TestApi } from './api.ts';

const actor = { name: 'Somebody', userId: null, credential: 'none', requestId: 'req_test' };

/** A chart, made as the agents' tool makes it. */
export async function makeChart(api: TestApi, token: string, wanted: Partial<WantedChart> & Pick<WantedChart, 'workbookId' | 'table'>) {
  const principal = await authenticate(api.services, token);
  return createChart(api.services, principal, actor, { name: '図', title: null, config: { mark: 'bar' }, ...wanted });
}
