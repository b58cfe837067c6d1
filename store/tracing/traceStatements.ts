import { context, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import type pg from 'pg';

type Query = (...args: unknown[]) => unknown;
type Callback = (error: unknown, result: unknown) => void;

/**
 * Gives each statement of a connection a span, where it belongs to a request or an activity that is under way. Parameters are
 * never read.
 */
export function traceStatements(client: pg.PoolClient, tracer: Tracer): void {
  const query = client.query.bind(client) as Query;
  const traced: Query = (...args) => {
    const text = readText(args[0]);
    if (text === null || !trace.getActiveSpan()?.isRecording()) return query(...args);
    const summary = summarize(text);
    const span = tracer.startSpan(summary, {
      kind: SpanKind.CLIENT,
      attributes: { 'db.system.name': 'postgresql', 'db.query.summary': summary, 'db.query.text': hideLiterals(text) },
    });
    const end = (error: unknown) => {
      if (error) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        span.setAttribute('error.type', String((error as { code?: unknown }).code ?? 'error'));
      }
      span.end();
    };
    const callback = args.at(-1);
    if (typeof callback === 'function') {
      const around: Callback = (error, result) => {
        end(error);
        (callback as Callback)(error, result);
      };
      return query(...args.slice(0, -1), context.bind(context.active(), around));
    }
    const result = query(...args);
    if (result instanceof Promise) result.then(() => end(null), end);
    else end(null);
    return result;
  };
  client.query = traced as typeof client.query;
}

function readText(first: unknown): string | null {
  if (typeof first === 'string') return first;
  const text = (first as { text?: unknown } | null)?.text;
  return typeof text === 'string' ? text : null;
}

const longestText = 2_000;

/** The statements are ours, and values are parameters; should one hold a literal all the same, it is left out. */
export function hideLiterals(text: string): string {
  return text
    .replaceAll(/'(?:[^']|'')*'/g, "'?'")
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, longestText);
}

/** What is done, and to which table or function. */
export function summarize(text: string): string {
  const plain = hideLiterals(text);
  const verb = /^\W*(\w+)/.exec(plain)?.[1]?.toUpperCase() ?? 'SQL';
  const target = /\b(?:FROM|INTO|UPDATE|TABLE)\s+(?:ONLY\s+)?"?(\w+)"?/i.exec(plain)?.[1] ?? /\b(svc_\w+)\(/.exec(plain)?.[1];
  return target === undefined ? verb : `${verb} ${target}`;
}
