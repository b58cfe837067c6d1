import { connect, createServer, type Socket } from 'node:net';

/** Between the API and PostgreSQL, to lose answers at a chosen moment. */
export interface DatabaseProxy {
  url: string;
  /** From now on PostgreSQL carries out what is committed, but nobody hears of it any more. `mark`: what a commit holds. */
  swallowCommits(mark?: string): void;
  /** How many commits nobody has heard of. */
  swallowed(): number;
  passAll(): void;
  stop(): Promise<void>;
}

export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let swallowing: string | null = null;
  let swallowed = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    let deaf = false;
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (swallowing !== null && bytes.includes(swallowing)) {
        deaf = true;
        swallowed += 1;
      }
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (!deaf) client.write(bytes);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  // Else it would go to the socket file.
  url.searchParams.delete('host');
  return {
    url: url.href,
    swallowCommits(mark = 'COMMIT;') {
      swallowing = mark;
    },
    swallowed: () => swallowed,
    passAll() {
      swallowing = null;
    },
    stop: () =>
      new Promise((done) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => done());
      }),
  };
}
