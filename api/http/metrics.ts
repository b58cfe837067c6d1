import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type Figures, makeFigureReader } from '../../activities/system/readFigures.ts';
import { readCacheCounts } from '../../store/cacheCounts.ts';
import type { Services } from '../../store/services.ts';

export interface Metrics {
  registry: Registry;
  observe(operation: string, status: number, seconds: number): void;
}

/** Metrics for operators, by operation and status. Labels never hold names or values of customers. */
export function makeMetrics(services: Services, version: string): Metrics {
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
  addOwnGauges(registry, services, version);
  addFigures(registry, services);
  return {
    registry,
    observe(operation, status, seconds) {
      requests.inc({ operation, status });
      durations.observe({ operation }, seconds);
    },
  };
}

/** Of this process. */
function addOwnGauges(registry: Registry, services: Services, version: string): void {
  new Gauge({
    name: 'svc_build_info',
    help: 'Always 1; the labels say what runs',
    labelNames: ['version', 'node'],
    registers: [registry],
  }).set({ version, node: process.versions.node }, 1);
  new Gauge({
    name: 'svc_query_processes',
    help: 'Query processes, by state',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      const { alive = 0, busy = 0 } = services.readSandboxState() ?? {};
      this.set({ state: 'busy' }, busy);
      this.set({ state: 'idle' }, alive - busy);
    },
  });
  new Counter({
    name: 'svc_cache_lookups_total',
    help: 'Look-ups in the caches of the process, by outcome',
    labelNames: ['cache', 'outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { cache, hit, miss } of readCacheCounts()) {
        this.inc({ cache, outcome: 'hit' }, hit);
        this.inc({ cache, outcome: 'miss' }, miss);
      }
    },
  });
}

/** Of the whole installation; each process tells the same. */
function addFigures(registry: Registry, services: Services): void {
  const readFigures = makeFigureReader(services);
  const addGauge = <Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    show: (figures: Partial<Figures>, set: (labels: Partial<Record<Label, string>>, value: number) => void) => void,
  ) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const figures = await readFigures();
        this.reset();
        show(figures, (labels, value) => this.set(labels as Record<Label, string>, value));
      },
    });
  addGauge(
    'svc_audit_chains_broken',
    'Audit chains of workbooks and accounts that were found not to be whole',
    [],
    ({ brokenChains }, set) => {
      if (brokenChains !== undefined) set({}, brokenChains);
    },
  );
  addGauge('svc_jobs', 'Jobs that are kept, by kind and status', ['kind', 'status'], ({ jobs = [] }, set) => {
    for (const { kind, status, jobs: count } of jobs) set({ kind, status }, count);
  });
  addGauge(
    'svc_queue_length',
    'What waits: jobs to be started, tasks for a worker, events, deliveries to webhooks, queries of this process',
    ['queue'],
    (figures, set) => {
      const pending = figures.jobs?.filter(({ status }) => status === 'pending') ?? [];
      set(
        { queue: 'jobs' },
        pending.reduce((sum, { jobs }) => sum + jobs, 0),
      );
      set({ queue: 'workflow_tasks' }, figures.waitingTasks?.workflow ?? 0);
      set({ queue: 'activity_tasks' }, figures.waitingTasks?.activity ?? 0);
      set({ queue: 'events' }, figures.waitingEvents?.events ?? 0);
      set({ queue: 'deliveries' }, figures.waitingEvents?.deliveries ?? 0);
      set({ queue: 'queries' }, services.readSandboxState()?.queued ?? 0);
    },
  );
  addGauge('svc_workers', '1: workers ask for tasks; 0: none does', [], ({ hasWorkers }, set) => {
    if (hasWorkers !== undefined) set({}, hasWorkers ? 1 : 0);
  });
  addGauge('svc_stored_bytes', 'Bytes that are kept, by what they are', ['what'], ({ bytes }, set) => {
    for (const [what, count] of Object.entries(bytes ?? {})) set({ what }, count);
  });
}
