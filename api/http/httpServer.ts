import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
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
  const silentSockets = new Set<Socket>();
  const handleWanted: RequestListener = (request, response) => {
    silentSockets.delete(request.socket);
    if (!isRefused(request.socket)) handle(request, response);
  };
  const server = createServer(limits, handleWanted);
  // Otherwise those behind the 2,000th would be left out, and nobody told: If-Match, or a second Host.
  server.maxHeadersCount = 0;
  // An expectation that is not known may be passed over.
  server.on('checkExpectation', handleWanted);
  watchSilent(server, silentSockets);
  refuseBrokenRequests(server, log);
  if (limitsAddresses) limitConnections(server);
  return server;
}

/** Takes no more connections, and ends when the requests that have come are answered. */
export function closeServer(server: Server): Promise<void> {
  // Connections whose last answer is still to come are not kept after it.
  server.keepAliveTimeout = 1;
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    for (const socket of silent.get(server) ?? []) socket.destroy();
  });
}

/** Connections on which nothing was asked yet. Node does not count them as idle, and would wait for them. */
const silent = new WeakMap<Server, Set<Socket>>();

function watchSilent(server: Server, sockets: Set<Socket>): void {
  silent.set(server, sockets);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
}
