import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { ServiceEvent } from './world.ts';

export interface Received {
  id: string;
  event: ServiceEvent;
  headers: IncomingHttpHeaders;
  body: string;
  path: string;
}

/** Answers a request by a status, or by itself. */
export type Answer = (
  received: Received,
) => number | { status: number; headers?: Record<string, string> } | ((response: ServerResponse) => void);

export interface Receiver {
  url: string;
  /** All that came, in order, whatever was answered. */
  received: Received[];
  /** What was answered with 2xx, each delivery once. */
  taken: Received[];
  answerWith(answer: Answer): void;
  stop(): Promise<void>;
}

/** A receiver of webhooks on this machine. */
export async function startReceiver(answer: Answer = () => 204, port = 0): Promise<Receiver> {
  let current = answer;
  const receiver: Receiver = {
    url: '',
    received: [],
    taken: [],
    answerWith(next) {
      current = next;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('error', () => {});
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString();
      const { headers, url: path = '' } = request;
      const received = { id: String(headers['webhook-id']), event: JSON.parse(body) as ServiceEvent, headers, body, path };
      receiver.received.push(received);
      const said = current(received);
      if (typeof said === 'function') return said(response);
      const { status, headers: more = {} } = typeof said === 'number' ? { status: said } : said;
      if (status < 300 && !receiver.taken.some(({ id }) => id === received.id)) receiver.taken.push(received);
      response.writeHead(status, more).end();
    });
  });
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  return receiver;
}

/** Whether the standard's own library accepts the delivery with this secret; throws if not. */
export function verifyStandard(secret: string, { body, headers }: Received): void {
  new Webhook(secret).verify(body, headers as Record<string, string>);
}
