import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/**
 * Clients in their own process, so that their cost is not counted as the service's. Each edits one table, one row at a time.
 * They write HTTP by hand: with two processors, a heavier client would distort the measurement.
 */
export interface EditLoad {
  url: string;
  token: string;
  /** One client per table. */
  tables: { path: string; rows: number }[];
  /** The total number of edits. */
  edits: number;
  /** The number of the first edit, so that no two loads change the same rows. */
  first: number;
  /** Each edit has an Idempotency-Key of its own. */
  keyed?: boolean;
}

export interface EditTimes {
  elapsedMs: number;
  latenciesMs: number[];
}

const { url, token, tables, edits, first, keyed = false } = JSON.parse(process.argv[2] ?? '{}') as EditLoad;
const { hostname, port } = new URL(url);

function post(socket: Socket, path: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const take = (piece: Buffer) => {
      answer += piece.toString('latin1');
      const end = answer.indexOf('\r\n\r\n') + 4;
      if (end < 4 || answer.length < end + Number(/content-length: (\d+)/i.exec(answer)?.[1])) return;
      socket.off('data', take);
      if (answer.startsWith('HTTP/1.1 200 ')) resolve();
      else reject(new Error(answer));
    };
    socket.on('data', take);
    const head = `POST ${path} HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json`;
    const key = keyed ? `\r\nidempotency-key: ${randomUUID()}` : '';
    socket.write(`${head}${key}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  });
}

let left = edits;
let made = first;
const latenciesMs: number[] = [];

/** Edits rows all over the table, each once, so that they are found in a file and not in the log. */
async function edit({ path, rows }: EditLoad['tables'][number]): Promise<void> {
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  while (left > 0) {
    left -= 1;
    made += 1;
    const rowId = 1 + ((made * 7_919_317) % rows);
    const began = performance.now();
    await post(socket, path, JSON.stringify({ expected_version: null, rows: [{ __svc_row_id: rowId, c2: `edit ${made}` }] }));
    latenciesMs.push(performance.now() - began);
  }
  socket.destroy();
}

const began = performance.now();
await Promise.all(tables.map(edit));
process.send?.({ elapsedMs: performance.now() - began, latenciesMs } satisfies EditTimes);
process.disconnect?.();
