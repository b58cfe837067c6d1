import { context, type Span, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { envDetectorSync, Resource } from '@opentelemetry/resources';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import {
  makeWorkflowExporter,
  OpenTelemetryActivityInboundInterceptor,
  OpenTelemetryWorkflowClientInterceptor,
} from '@temporalio/interceptors-opentelemetry';
import type pino from 'pino';
import { SafeExporter } from './safeExporter.ts';
import { traceStatements } from './traceStatements.ts';
import type { RequestSpan, TracedRequest, Tracing } from './tracing.ts';

const closeWithinMs = 2_000;

/** Once in a process: OpenTelemetry's context is the whole process's. Its other variables (OTEL_…) are read by its own code. */
export async function openTracing(options: { url: string; part: string; log: pino.Logger }): Promise<Tracing> {
  const { url, part, log } = options;
  const named = new Resource({ 'service.name': 'workbook-data-service', 'service.part': part });
  const resource = named.merge(await envDetectorSync.detect());
  const processor = new BatchSpanProcessor(new SafeExporter(new OTLPTraceExporter({ url }), log));
  const provider = new NodeTracerProvider({ resource, spanProcessors: [processor] });
  provider.register({ propagator: new W3CTraceContextPropagator() });
  const tracer = trace.getTracer('workbook-data-service');
  return {
    startRequest,
    traceStatements: (client) => traceStatements(client, tracer),
    clientInterceptor: new OpenTelemetryWorkflowClientInterceptor({ tracer }),
    workerOptions: {
      interceptors: { activity: [(activity) => ({ inbound: new OpenTelemetryActivityInboundInterceptor(activity, { tracer }) })] },
      sinks: { exporter: makeWorkflowExporter(processor, resource) },
    },
    async close() {
      const closing = provider.shutdown().catch(() => {});
      await Promise.race([closing, new Promise((done) => setTimeout(done, closeWithinMs).unref())]);
    },
  };

  function startRequest({ operation, method, headers }: TracedRequest): RequestSpan {
    const attributes = { 'http.request.method': method };
    const from = readCaller(headers.traceparent);
    const span = tracer.startSpan(operation, { kind: SpanKind.SERVER, attributes }, from);
    const within = trace.setSpan(from, span);
    return {
      run: (work) => context.with(within, work),
      end: (outcome) => endRequest(span, outcome),
    };
  }
}

/** The trace that the caller is in. What else it says of itself (tracestate, baggage) is not passed on. */
function readCaller(header: string | string[] | undefined) {
  const [, traceId = '', spanId = '', flags = ''] = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/.exec(String(header)) ?? [];
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId)) return context.active();
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  return trace.setSpanContext(context.active(), { traceId, spanId, traceFlags, isRemote: true });
}

function endRequest(span: Span, { requestId, status, problem }: Parameters<RequestSpan['end']>[0]): void {
  span.setAttributes({ 'http.response.status_code': status, 'svc.request_id': requestId });
  if (problem !== undefined) span.setAttribute('svc.problem', problem);
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}
