import { type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type pino from 'pino';
import { DomainError } from '../../core/errors.ts';
import { describeAddress } from '../../store/log.ts';
import { makeId } from '../../store/services.ts';
import { renderProblem } from './problem.ts';
import { securityHeaders } from './securityHeaders.ts';

/** Requests that are not HTTP never reach the application. They get a problem document too, and the connection is closed. */
export function refuseBrokenRequests(server: Server, log: pino.Logger): void {
  server.on('clientError', (error: BrokenRequest, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const problem = explain(error.code);
    const answered = endWithProblem(socket, problem);
    log.info({ ...answered, code: problem.code, ...readAddress(error.rawPacket) }, 'answered');
  });
}

const lingerMs = 1_000;

/** Writes the problem to a connection that no application looks after, and closes it. */
export function endWithProblem(socket: Duplex, problem: DomainError): { request: string; status: number } {
  const requestId = makeId('req');
  const { status, raw, headers } = renderProblem(problem, requestId);
  const body = String(raw?.data);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${raw?.type}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    ...Object.entries({ ...securityHeaders, ...headers }).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // Whoever does not close their side would keep the connection. Closing it at once could cost them the answer.
  setTimeout(() => socket.destroy(), lingerMs).unref();
  return { request: requestId, status };
}

interface BrokenRequest extends NodeJS.ErrnoException {
  /** The bytes in which the error was found; the request may have begun earlier. */
  rawPacket?: Buffer;
}

function readAddress(packet: Buffer | undefined): { method?: string; path?: string } {
  const [, method, path] = /^([A-Z]{3,10}) ([^\s?]+)/.exec(packet?.toString('latin1', 0, 1000) ?? '') ?? [];
  return method && path ? describeAddress(method, path) : {};
}

/** For example `curl …/tables/売上`: some clients do not encode URLs. */
export function badEncoding(): DomainError {
  return new DomainError('malformed-request', 'The address is not properly percent-encoded.', 'Encode names as UTF-8 with percent signs.');
}

export function badHost(what: string): DomainError {
  return new DomainError('malformed-request', `The request has ${what}.`, 'Send it with one.');
}

function explain(code: string | undefined): DomainError {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new DomainError('too-large', 'The address or the headers of the request are too large.', 'Send shorter ones.');
  if (code === 'HPE_INVALID_URL') return badEncoding();
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new DomainError(
      'malformed-request',
      'The request did not arrive in time.',
      'Send it again, over a faster line if there is one.',
    );
  return new DomainError('malformed-request', 'The request is not well-formed HTTP.', 'Send it with an HTTP client.');
}
