import type { IncomingHttpHeaders } from 'node:http';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { WorkerOptions } from '@temporalio/worker';
import type pg from 'pg';

/** Sends traces to a collector. Where none is configured there is no such thing, and nothing of OpenTelemetry is loaded. */
export interface Tracing {
  startRequest(request: TracedRequest): RequestSpan;
  /** From now on the statements of this connection have spans, within requests and activities. */
  traceStatements(client: pg.PoolClient): void;
  clientInterceptor: WorkflowClientInterceptor;
  workerOptions: Pick<WorkerOptions, 'interceptors' | 'sinks'>;
  /** Sends what is left, but does not wait for a collector that is away. */
  close(): Promise<void>;
}

export interface TracedRequest {
  /** The operation's id: addresses hold names of tables. */
  operation: string;
  method: string;
  headers: IncomingHttpHeaders;
}

export interface RequestSpan {
  run<T>(work: () => Promise<T>): Promise<T>;
  end(outcome: { requestId: string; status: number; problem: string | undefined }): void;
}
