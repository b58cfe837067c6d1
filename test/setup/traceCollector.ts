import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import { buffer } from 'node:stream/consumers';

/** A collector of OpenTelemetry traces that keeps what it is sent. */
export interface TraceCollector {
  /** What makes a process send its traces here, without waiting long for more. */
  env: Record<string, string>;
  spans(): CollectedSpan[];
  /** All bytes as text: strings stand in them as they are. */
  text(): string;
  stop(): Promise<void>;
}

export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  /** Of the process: api or worker. */
  part: string;
  attributes: Record<string, unknown>;
}

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: string };
}
interface Decoded {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: { spans: (Pick<CollectedSpan, 'traceId' | 'spanId' | 'parentSpanId' | 'name'> & { attributes?: Attribute[] })[] }[];
  }[];
}

// Generated from the protocol's definition, for the library that sends it.
const root = createRequire(import.meta.url)('@opentelemetry/otlp-transformer/build/src/generated/root.js');
const Request = root.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;

export async function startTraceCollector(): Promise<TraceCollector> {
  const received: Buffer[] = [];
  const server: Server = createServer(async (request, response) => {
    if (request.url === '/v1/traces') received.push(await buffer(request));
    response.writeHead(request.url === '/v1/traces' ? 200 : 404).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_BSP_SCHEDULE_DELAY: '100' },
    spans: () => received.flatMap(decode),
    text: () => Buffer.concat(received).toString('utf8'),
    stop: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

function decode(bytes: Buffer): CollectedSpan[] {
  const { resourceSpans } = Request.toObject(Request.decode(bytes), { longs: String, bytes: String, defaults: true }) as Decoded;
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const part = String(valuesOf(resource.attributes)['service.part']);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ traceId, spanId, parentSpanId, name, attributes }) => ({
        traceId: toHex(traceId),
        spanId: toHex(spanId),
        parentSpanId: toHex(parentSpanId),
        name,
        part,
        attributes: valuesOf(attributes ?? []),
      })),
    );
  });
}

const toHex = (base64: string) => Buffer.from(base64, 'base64').toString('hex');

function valuesOf(attributes: Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue || value.intValue]));
}
