import { checkReadiness } from '../../activities/system/checkReadiness.ts';
import { requireOperator } from '../../activities/system/requireOperator.ts';
import { DomainError } from '../../core/errors.ts';
import type { Handlers } from '../http/call.ts';
import type { Metrics } from '../http/metrics.ts';
import type { ApiParts } from '../http/pipeline.ts';

const noWorkers =
  'No worker asks for tasks. Uploads and other jobs are taken and wait until one runs; rows, queries and everything else work.';

export function makeSystemHandlers(
  { services, contract, stopping }: ApiParts,
  metrics: Metrics,
): Handlers<'getHealth' | 'getReadiness' | 'getMetrics' | 'getContract' | 'getContractJson'> {
  return {
    async getHealth() {
      return { status: 200, body: { status: 'ok', version: contract.version } };
    },

    async getReadiness() {
      if (stopping.aborted)
        throw new DomainError('unavailable', 'Not ready: this process is about to stop.', 'Ask another process of the service.', {
          headers: { 'Retry-After': '2' },
        });
      const { away, isReady } = await checkReadiness(services);
      if (!isReady)
        throw new DomainError('unavailable', `Not ready: ${away.join(', ')}.`, 'Wait until every part is up; the log says more.', {
          errors: away.map((part) => ({ pointer: `/checks/${part}`, detail: 'does not answer' })),
          headers: { 'Retry-After': '2' },
        });
      const workers = away.includes('workers') ? ('away' as const) : ('ok' as const);
      return {
        status: 200,
        body: {
          status: 'ready',
          checks: { database: 'ok', blobs: 'ok', temporal: 'ok', queries: 'ok', workers },
          notice: workers === 'ok' ? null : noWorkers,
        },
      };
    },

    async getMetrics({ address, header }) {
      // A proxy that is not believed hides who asks, and its own address is that of this machine.
      const isHidden = services.config.trustedProxies === 0 && (header('X-Forwarded-For') ?? header('Forwarded')) !== null;
      requireOperator(services, isHidden ? null : address, header('Authorization'));
      return { status: 200, raw: { type: metrics.registry.contentType, data: await metrics.registry.metrics() } };
    },

    async getContract() {
      return { status: 200, raw: { type: 'application/yaml', data: contract.text } };
    },

    async getContractJson() {
      return { status: 200, raw: { type: 'application/json', data: JSON.stringify(contract.published) } };
    },
  };
}
