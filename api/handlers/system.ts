import { checkReadiness } from '../../activities/system/checkReadiness.ts';
import { DomainError } from '../../core/errors.ts';
import type { Handlers } from '../http/call.ts';
import type { Metrics } from '../http/metrics.ts';
import type { ApiParts } from '../http/pipeline.ts';

export function makeSystemHandlers(
  { services, contract }: ApiParts,
  metrics: Metrics,
): Handlers<'getHealth' | 'getReadiness' | 'getMetrics' | 'getContract' | 'getContractJson'> {
  return {
    async getHealth() {
      return { status: 200, body: { status: 'ok', version: contract.version } };
    },

    async getReadiness() {
      const away = await checkReadiness(services);
      if (away.length > 0)
        throw new DomainError(
          'unavailable',
          `Not ready: ${away.map(({ part }) => part).join(', ')}.`,
          'Wait until every part is up; the log says more.',
          { errors: away.map(({ part }) => ({ pointer: `/checks/${part}`, detail: 'does not answer' })), headers: { 'Retry-After': '2' } },
        );
      return { status: 200, body: { status: 'ready', checks: { database: 'ok', blobs: 'ok', temporal: 'ok', queries: 'ok' } } };
    },

    async getMetrics() {
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
