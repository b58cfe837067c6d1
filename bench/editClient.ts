import { Agent, request } from 'node:http';

/** Clients in a process of their own, so that what they cost is not counted as the service's: each edits one table, one row at a time. */
export interface EditLoad {
  url: string;
  token: string;
  /** One client each. */
  tables: { path: string; rows: number }[];
  /** Ends after so many edits altogether. */
  edits: number;
  /** The number of the first edit: no two loads change the same rows. */
  first: number;
}

export interface EditTimes {
  elapsedMs: number;
  latenciesMs: number[];
}

const { url, token, tables, edits, first } = JSON.parse(process.argv[2] ?? '{}') as EditLoad;
const agent = new Agent({ keepAlive: true, maxSockets: tables.length });

function post(path: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}${path}`,
      {
        method: 'POST',
        agent,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      },
      (answer) => {
        const pieces: Buffer[] = [];
        answer.on('data', (piece: Buffer) => pieces.push(piece));
        answer.on('end', () =>
          answer.statusCode === 200 ? resolve() : reject(new Error(`${answer.statusCode}: ${Buffer.concat(pieces).toString()}`)),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

let left = edits;
let made = first;
const latenciesMs: number[] = [];

/** Rows all over the table, none of them twice: what an edit finds is in a file, not in the log. */
async function edit({ path, rows }: EditLoad['tables'][number]): Promise<void> {
  while (left > 0) {
    left -= 1;
    made += 1;
    const rowId = 1 + ((made * 7_919_317) % rows);
    const began = performance.now();
    await post(path, JSON.stringify({ expected_version: null, rows: [{ __svc_row_id: rowId, c2: `edit ${made}` }] }));
    latenciesMs.push(performance.now() - began);
  }
}

const began = performance.now();
await Promise.all(tables.map(edit));
process.send?.({ elapsedMs: performance.now() - began, latenciesMs } satisfies EditTimes);
agent.destroy();
process.disconnect?.();
