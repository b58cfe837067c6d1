import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { findFreePort } from '../../scripts/embedded/ports.ts';

/** What happens to the next requests: they pass, or one of these. */
export type Trouble = 'none' | 'refuse' | 'slow' | 'stall' | 'break' | 'corrupt';

/** Stands between a store and its server, counts, and makes trouble. */
export class TroubleProxy {
  trouble: Trouble = 'none';
  /** How many more requests the trouble is for. */
  troubles = Number.POSITIVE_INFINITY;
  private counts = new Map<string, number>();
  private server: Server | null = null;
  private readonly sockets = new Set<Socket>();
  port = 0;

  constructor(private readonly targetPort: number) {}

  /** On the same port as before, if there was one: one that nobody takes while it is away. */
  async start(): Promise<void> {
    this.port ||= await findFreePort();
    const server = createServer((incoming, outgoing) => this.pass(incoming, outgoing));
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.server = server;
  }

  async stop(): Promise<void> {
    const { server } = this;
    this.server = null;
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => (server ? server.close(resolve) : resolve(null)));
  }

  make(trouble: Trouble, troubles = Number.POSITIVE_INFINITY): void {
    this.trouble = trouble;
    this.troubles = troubles;
  }

  /** Requests of this method whose address holds this text. */
  count(method: string, part: string): number {
    let sum = 0;
    for (const [line, times] of this.counts) if (line.startsWith(`${method} `) && line.includes(part)) sum += times;
    return sum;
  }

  private pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const line = `${incoming.method} ${incoming.url}`;
    this.counts.set(line, (this.counts.get(line) ?? 0) + 1);
    const trouble = this.troubles > 0 ? this.trouble : 'none';
    this.troubles -= 1;
    if (trouble === 'stall') return;
    if (trouble === 'slow') {
      setTimeout(() => this.forward('none', incoming, outgoing), 1_500);
      return;
    }
    if (trouble === 'refuse') {
      incoming.resume();
      outgoing.writeHead(503).end();
      return;
    }
    this.forward(trouble, incoming, outgoing);
  }

  private forward(trouble: Trouble, incoming: IncomingMessage, outgoing: ServerResponse): void {
    const forwarded = request({
      port: this.targetPort,
      host: '127.0.0.1',
      method: incoming.method,
      path: incoming.url,
      headers: incoming.headers,
    });
    forwarded.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      if (trouble === 'none') answer.pipe(outgoing);
      else answer.once('data', (piece: Buffer) => this.spoil(trouble, piece, answer, outgoing));
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.on('error', () => forwarded.destroy());
    incoming.on('aborted', () => forwarded.destroy());
    incoming.pipe(forwarded);
  }

  private spoil(trouble: Trouble, piece: Buffer, answer: IncomingMessage, outgoing: ServerResponse): void {
    if (trouble === 'break') {
      outgoing.write(piece.subarray(0, piece.length >> 1), () => outgoing.destroy());
      return;
    }
    piece[0] = (piece[0] ?? 0) ^ 0xff;
    outgoing.write(piece);
    answer.pipe(outgoing);
  }
}
