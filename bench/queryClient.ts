import { connect, type Socket } from 'node:net';

/**
 * Clients in their own process, so that their cost is not counted as the service's. They write HTTP by hand: with two
 * processors, a heavier client would distort the measurement.
 */
export interface QueryLoad {
  url: string;
  /** Lines of the head beside those that every request has. */
  headers: string[];
  path: string;
  clients: number;
  durationMs: number;
  /** A body; `{n}` is replaced by a number that is another each time, from 0 to `span`, unless `span` is 0. */
  body: string;
  span: number;
  /** The first number, so that no two loads ask the same. */
  first: number;
}

export interface QueryTimes {
  perSecond: number;
  medianMs: number;
  asked: number;
}

const { url, headers, path, clients, durationMs, body, span, first } = JSON.parse(process.argv[2] ?? '{}') as QueryLoad;
const { hostname, port } = new URL(url);

const headEnd = Buffer.from('\r\n\r\n');

function post(socket: Socket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let size = 0;
    let whole = 0;
    const take = (piece: Buffer) => {
      pieces.push(piece);
      size += piece.length;
      if (whole === 0) {
        const start = Buffer.concat(pieces);
        const end = start.indexOf(headEnd);
        if (end < 0) return;
        const length = /content-length: (\d+)/i.exec(start.toString('latin1', 0, end))?.[1];
        if (length === undefined) return reject(new Error(start.toString('latin1')));
        whole = end + headEnd.length + Number(length);
      }
      if (size < whole) return;
      socket.off('data', take);
      if ((pieces[0] as Buffer).toString('latin1', 0, 13) === 'HTTP/1.1 200 ') resolve();
      else reject(new Error(Buffer.concat(pieces).toString('utf8').slice(0, 1_000)));
    };
    socket.on('data', take);
    const head = [`POST ${path} HTTP/1.1`, `host: ${hostname}`, ...headers, `content-length: ${Buffer.byteLength(text)}`].join('\r\n');
    socket.write(`${head}\r\n\r\n${text}`);
  });
}

let made = first;
const latenciesMs: number[] = [];
const began = performance.now();

async function ask(): Promise<void> {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  while (performance.now() - began < durationMs) {
    made += 1;
    const asked = performance.now();
    await post(socket, span === 0 ? body : body.replaceAll('{n}', String((made * 7_919) % span)));
    latenciesMs.push(performance.now() - asked);
  }
  socket.destroy();
}

await Promise.all(Array.from({ length: clients }, ask));
const elapsedMs = performance.now() - began;
const sorted = latenciesMs.toSorted((a, b) => a - b);
process.send?.({
  perSecond: (latenciesMs.length * 1_000) / elapsedMs,
  medianMs: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN,
  asked: latenciesMs.length,
} satisfies QueryTimes);
process.disconnect?.();
