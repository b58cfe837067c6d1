import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import type pino from 'pino';

/** All that a span may say. Libraries add more, such as messages of errors, which quote values. */
const allowed = new Set([
  'http.request.method',
  'http.response.status_code',
  'svc.request_id',
  'svc.problem',
  'db.system.name',
  'db.query.summary',
  'db.query.text',
  'error.type',
  'temporalWorkflowId',
  'temporalActivityId',
  'run_id',
]);

const quietMs = 60_000;

/** Lets through what is allowed of each span and nothing else. */
export class SafeExporter implements SpanExporter {
  private saidAtMs = 0;

  constructor(
    private readonly inner: SpanExporter,
    private readonly log: Pick<pino.Logger, 'warn'>,
  ) {}

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.inner.export(spans.map(clean), (result) => {
      if (result.code !== ExportResultCode.SUCCESS && Date.now() - this.saidAtMs > quietMs) {
        this.saidAtMs = Date.now();
        this.log.warn({ spans: spans.length, reason: result.error?.message }, 'traces could not be sent');
      }
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.inner.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.inner.forceFlush?.();
  }
}

function clean(span: ReadableSpan): ReadableSpan {
  const kind = span.events.find(({ name }) => name === 'exception')?.attributes?.['exception.type'];
  const attributes = Object.fromEntries(Object.entries(span.attributes).filter(([name]) => allowed.has(name)));
  return Object.create(span, {
    attributes: { value: kind === undefined ? attributes : { ...attributes, 'error.type': kind } },
    events: { value: [] },
    links: { value: [] },
    status: { value: { code: span.status.code } },
  }) as ReadableSpan;
}
