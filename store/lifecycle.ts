import { wantsJson, wantsStacks } from './config.ts';

/** For one that is told to stop before it has started. */
const stopEarlyMs = 10_000;

export interface Service {
  stop(): Promise<void>;
  /** How long that may take; then the process ends all the same. */
  stopWithinMs: number;
}

/**
 * Runs the API or a worker as a process: says `ready` to the supervisor when there is one, and stops gracefully on
 * SIGTERM, SIGINT or when the supervisor is gone (its IPC channel closes, which even kill -9 cannot prevent).
 */
export async function runService(name: string, start: () => Promise<Service>): Promise<void> {
  let stopping = false;
  const fail = (what: string, error: unknown): never => {
    const said = `${name}: ${what}: ${describeError(error)}`;
    console.error(wantsJson() ? JSON.stringify({ level: 60, time: new Date().toISOString(), part: name, msg: said }) : said);
    process.exit(1);
  };

  // Without a supervisor to read them, writes fail with EPIPE; that must not cut the graceful stop short.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  process.on('uncaughtException', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') fail('unexpected error', new Error(describeUnexpected(error)));
  });
  process.on('unhandledRejection', (error) => fail('unhandled rejection', new Error(describeUnexpected(error))));

  const started = start();
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    const endWithin = (ms: number) => setTimeout(() => fail('stopping', new Error(`not done after ${ms / 1000} s`)), ms).unref();
    const timer = endWithin(stopEarlyMs);
    try {
      const service = await started.catch(() => null);
      clearTimeout(timer);
      if (service) endWithin(service.stopWithinMs);
      await service?.stop();
      process.exit(0);
    } catch (error) {
      fail('stopping failed', error);
    }
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('disconnect', stop);
  // The supervisor may have gone before we listened; that event is not repeated.
  if (process.connected === false) void stop();

  try {
    await started;
  } catch (error) {
    if (stopping) return;
    fail('cannot start', error);
  }
  if (!stopping) process.send?.({ type: 'ready' });
}

/** One line for people; the stack when they asked for debug output. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (wantsStacks()) return error.stack ?? error.message;
  // A refused connection to several addresses has an empty message and its reasons inside.
  if (error instanceof AggregateError && !error.message) return error.errors.map(describeError).join('; ');
  return error.message || error.name;
}

/** Kind and place, but not the message: messages of PostgreSQL and DuckDB quote values. */
function describeUnexpected(error: unknown): string {
  if (wantsStacks() || !(error instanceof Error)) return describeError(error);
  const code = (error as NodeJS.ErrnoException).code;
  const frames = (error.stack ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('at '));
  return [code ? `${error.name} ${code}` : error.name, ...frames.slice(0, 3)].join(' ');
}
