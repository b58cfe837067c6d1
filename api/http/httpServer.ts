import { createServer, type RequestListener, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type pino from 'pino';
import { refuseBrokenRequests } from './brokenRequests.ts';
import { isRefused, limitConnections } from './connectionLimit.ts';

export const usualLimits = {
  /** For the whole request: 100 MiB over a slow line take a while. How slowly a body may come is said in chunks.ts. */
  requestTimeout: 30 * 60_000,
  /** For the address and the headers, or for silence on a new connection. */
  headersTimeout: 30_000,
  connectionsCheckingInterval: 10_000,
  /** For silence between requests: longer than proxies and clients keep a connection, so that they close it and not we under a request. */
  keepAliveTimeout: 65_000,
  /** Room for an address of 64 KiB, which is what the contract's parameters may come to, and for the headers. */
  maxHeaderSize: 96 * 1024,
  // The application refuses such a request, with a problem document.
  requireHostHeader: false,
} satisfies ServerOptions;

/** A server that gives a connection only so much time, and an address, if limited, only so many connections. */
export function makeHttpServer(
  handle: RequestListener,
  log: pino.Logger,
  { limitsAddresses, ...limits }: { limitsAddresses: boolean } & ServerOptions,
): Server {
  const open: Open = { silent: new Set(), answers: new Map(), isKept: true };
  const handleWanted: RequestListener = (request, response) => {
    open.silent.delete(request.socket);
    if (isRefused(request.socket)) return;
    response.shouldKeepAlive &&= open.isKept;
    open.answers.set(request.socket, response);
    handle(request, response);
  };
  const server = createServer(limits, handleWanted);
  opened.set(server, open);
  // Otherwise those behind the 2,000th would be left out, and nobody told: If-Match, or a second Host.
  server.maxHeadersCount = 0;
  // An expectation that is not known may be passed over.
  server.on('checkExpectation', handleWanted);
  watchConnections(server, open);
  refuseBrokenRequests(server, log);
  if (limitsAddresses) limitConnections(server);
  return server;
}

/** What a server has under way. */
interface Open {
  /** Connections on which nothing was asked yet. Node does not count them as idle, and would wait for them. */
  silent: Set<Socket>;
  /** The newest answer of each connection. */
  answers: Map<Socket, ServerResponse>;
  /** Whether connections are kept for the next request. */
  isKept: boolean;
}

const opened = new WeakMap<Server, Open>();

/** Every answer from now on says that its connection ends with it, so that the next request is sent elsewhere. */
export function keepNoConnections(server: Server): void {
  const open = opened.get(server);
  if (!open) return;
  open.isKept = false;
  for (const answer of open.answers.values()) answer.shouldKeepAlive = false;
}

/** Takes no more connections, and ends when the requests that have come are answered. */
export function closeServer(server: Server): Promise<void> {
  keepNoConnections(server);
  // For answers that had begun before.
  server.keepAliveTimeout = 1;
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    for (const socket of opened.get(server)?.silent ?? []) socket.destroy();
  });
}

function watchConnections(server: Server, { silent, answers }: Open): void {
  server.on('connection', (socket) => {
    silent.add(socket);
    socket.once('close', () => {
      silent.delete(socket);
      answers.delete(socket);
    });
  });
}
