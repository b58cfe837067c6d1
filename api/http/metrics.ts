import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { acrossAccounts } from '../../store/pg/accountScope.ts';
import { countBrokenChains } from '../../store/pg/audit.ts';
import type { Services } from '../../store/services.ts';

export interface Metrics {
  registry: Registry;
  observe(operation: string, status: number, seconds: number): void;
}

/** Metrics for operators, by operation and status. Labels never hold names or values of customers. */
export function makeMetrics(services: Services): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Counter({
    name: 'svc_http_requests_total',
    help: 'Requests answered, by operation and status',
    labelNames: ['operation', 'status'],
    registers: [registry],
  });
  const durations = new Histogram({
    name: 'svc_http_request_seconds',
    help: 'Time to answer, by operation',
    labelNames: ['operation'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
    registers: [registry],
  });
  new Gauge({
    name: 'svc_database_connections',
    help: 'Connections to PostgreSQL, by state',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { totalCount, idleCount, waitingCount } = services.db.pool;
      this.set({ state: 'busy' }, totalCount - idleCount);
      this.set({ state: 'idle' }, idleCount);
      this.set({ state: 'waited_for' }, waitingCount);
    },
  });
  new Gauge({
    name: 'svc_audit_chains_broken',
    help: 'Audit chains of workbooks and accounts that were found not to be whole',
    registers: [registry],
    async collect() {
      // Without the database this keeps its last value, as the other metrics are needed then.
      await acrossAccounts(() => countBrokenChains(services.db.pool)).then(
        (broken) => this.set(broken),
        () => {},
      );
    },
  });
  return {
    registry,
    observe(operation, status, seconds) {
      requests.inc({ operation, status });
      durations.observe({ operation }, seconds);
    },
  };
}
