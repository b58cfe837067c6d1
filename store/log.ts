import pino from 'pino';

/**
 * Structured logs on standard output. What is logged is chosen field by field: ids, names of operations, codes and
 * durations, the path of a refused request; never a body, a header, a query string or a value. The redaction list below is a second safeguard.
 */
export function openLog(level: string, part: string): pino.Logger {
  const options: pino.LoggerOptions = {
    level,
    base: { part },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: [
        'authorization',
        'password',
        'token',
        'key',
        'secret',
        'body',
        '*.authorization',
        '*.password',
        '*.token',
        '*.secret',
        '*.body',
      ],
      censor: '[redacted]',
    },
  };
  // Asynchronous, so that requests do not wait for slow readers of the log, and many lines at once. Flushed at exit.
  return pino(options, pino.destination({ dest: 1, sync: false, minLength: 8_192, periodicFlush: 50 }));
}

/**
 * The parts of an unexpected error that may be logged: kind, code and stack, but not the message, because messages of
 * PostgreSQL and DuckDB quote values.
 */
export function describeErrorForLog(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { error: typeof error };
  const { code, constraint, table } = error as { code?: string; constraint?: string; table?: string };
  return {
    error: error.name,
    code,
    constraint,
    table,
    stack: error.stack
      ?.split('\n')
      .filter((line) => line.trimStart().startsWith('at '))
      .slice(0, 12)
      .map((line) => line.trim()),
    cause: error.cause instanceof Error ? describeErrorForLog(error.cause) : undefined,
  };
}

const longestPath = 300;

/**
 * What a refused request was about, without its query. A token that was put into the path by mistake is left out, and so is the
 * name of a column, which may be hidden from those who read logs.
 */
export function describeAddress(method: string, path: string): { method: string; path: string } {
  const shown = path.slice(0, longestPath).replaceAll(/svc_(pat|key)_[^/]*/g, 'svc_$1_…');
  return { method, path: shown.replaceAll(/\/columns\/[^/]+/g, '/columns/…') };
}
