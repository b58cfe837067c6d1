import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunningProcess } from './runningProcess.ts';

interface BalancerOptions {
  host: string;
  port: number;
  /** Ports of this machine where the API processes listen. */
  targets: number[];
}

const checkEveryMs = 250;
const checkTimeoutMs = 5_000;
/** For what is under way when it is stopped. */
const stopTimeoutMs = 10_000;
/** They speak of one connection, not of the request. */
const ofConnection = new Set(['connection', 'keep-alive', 'proxy-connection', 'upgrade']);

/**
 * Stands before several API processes, as a real balancer does elsewhere: each request goes to the next process whose /readyz says
 * 200. What could not be handed over goes to another one; a request that may have had an effect is never sent twice.
 */
export async function startBalancer({ host, port, targets }: BalancerOptions): Promise<RunningProcess> {
  const isReady = new Map(targets.map((target) => [target, true]));
  let turn = 0;
  /** All targets, the next ready one first. When none is ready each may still have an answer of its own. */
  const listTargets = (): number[] => {
    turn += 1;
    const inTurn = targets.map((_, i) => targets[(turn + i) % targets.length] as number);
    return inTurn.sort((a, b) => Number(isReady.get(b)) - Number(isReady.get(a)));
  };

  const server = createServer((incoming, outgoing) => pass(incoming, outgoing, listTargets()));
  // Requests may take longer than Node.js allows by itself; the API has limits of its own.
  server.requestTimeout = 0;

  const stopped = new AbortController();
  const check = async (target: number) => {
    const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(checkTimeoutMs)]);
    const answer = await fetch(`http://127.0.0.1:${target}/readyz`, { signal }).catch(() => null);
    await answer?.body?.cancel().catch(() => {});
    isReady.set(target, answer?.status === 200);
  };
  const watch = async (target: number) => {
    for (; !stopped.signal.aborted; await delay(checkEveryMs)) await check(target);
  };
  await Promise.all(targets.map(check));
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  for (const target of targets) void watch(target);

  const ended = new Promise<string>((done) => server.once('close', () => done('closed')));
  return {
    // It runs in this process.
    pid: 0,
    ended,
    async stop() {
      stopped.abort();
      server.close();
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), stopTimeoutMs);
      await ended;
      clearTimeout(timer);
    },
    kill: () => server.closeAllConnections(),
    readTail: () => [],
  };
}

/** Hands a request to the first target that takes it, and its answer to the one who asked. */
function pass(incoming: IncomingMessage, outgoing: ServerResponse, [target, ...others]: number[]): void {
  if (target === undefined) {
    refuse(outgoing, 503, 'No API process can be reached just now.');
    return;
  }
  const addresses = [incoming.headers['x-forwarded-for'], incoming.socket.remoteAddress].filter(Boolean).join(', ');
  const headers = { ...strip(incoming.headers), connection: 'close', 'x-forwarded-for': addresses };
  const forwarded = request({ host: '127.0.0.1', port: target, method: incoming.method, path: incoming.url, headers, agent: false });
  let isHandedOver = false;
  forwarded.once('socket', (socket) =>
    socket.once('connect', () => {
      isHandedOver = true;
      if (incoming.readableEnded) forwarded.end();
      else incoming.pipe(forwarded);
    }),
  );
  forwarded.once('response', (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, strip(answer.headers));
    answer.once('error', () => outgoing.destroy());
    answer.pipe(outgoing);
  });
  forwarded.once('error', () => {
    // An answer that has begun ends, or fails, by itself.
    if (outgoing.destroyed || outgoing.headersSent) return;
    if (!isHandedOver || incoming.method === 'GET' || incoming.method === 'HEAD') pass(incoming, outgoing, others);
    else refuse(outgoing, 502, 'The API process ended while it had the request.');
  });
  outgoing.once('close', () => forwarded.destroy());
}

function strip(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name)));
}

function refuse(outgoing: ServerResponse, status: 502 | 503, detail: string): void {
  const title = status === 502 ? 'Bad gateway' : 'Unavailable';
  const problem = { type: 'urn:svc:problem:unavailable', title, status, detail, suggested_fix: 'Send the request again in a moment.' };
  outgoing.writeHead(status, { 'Content-Type': 'application/problem+json', 'Retry-After': '1' }).end(JSON.stringify(problem));
}
