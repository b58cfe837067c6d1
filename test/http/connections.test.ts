import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Pace, readChunks } from '../../api/http/chunks.ts';
import { makeHttpServer, usualLimits } from '../../api/http/httpServer.ts';
import { DomainError } from '../../core/errors.ts';
import { ok, type Person, startTestApi, type TestApi } from '../setup/api.ts';
import { makeWorkbook } from '../setup/credentials.ts';
import { askRaw } from './rawRequest.ts';

/** What a connection may cost: how slowly it brings a body, how it is packed, how many there are. */

let api: TestApi;
let person: Person;
beforeAll(async () => {
  api = await startTestApi();
  person = await api.signUp();
});
afterAll(() => api.stop());

/** All that the server sends until it closes the connection. */
async function readToEnd(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}

function openSocket(): Socket {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  socket.on('error', () => {});
  return socket;
}

const mib = 1024 * 1024;

describe('a packed body', () => {
  const sendPacked = (body: Uint8Array, coding: string, path = '/api/v1/workbooks', type = 'application/json') =>
    api.fetch(path, {
      method: 'POST',
      token: person.session,
      headers: { 'Content-Type': type, 'Content-Encoding': coding },
      body,
    });
  const workbook = JSON.stringify({ title: '詰めた帳簿' });

  it.each([
    ['gzip', gzipSync(workbook)],
    ['X-GZIP', gzipSync(workbook)],
    ['br', brotliCompressSync(workbook)],
    ['identity', Buffer.from(workbook)],
  ])('is unpacked: %s', async (coding, body) => {
    const answer = await sendPacked(body, coding);
    expect([answer.status, await answer.json()]).toEqual([201, expect.objectContaining({ title: '詰めた帳簿' })]);
  });

  it.each([
    ['deflate', Buffer.from(workbook), 415],
    ['gzip, br', gzipSync(workbook), 415],
    ['gzip', Buffer.from(workbook), 400],
    ['gzip', gzipSync(workbook).subarray(0, -8), 400],
    ['br', Buffer.from(workbook), 400],
    ['br', brotliCompressSync(workbook).subarray(0, -2), 400],
    ['gzip', gzipSync(Buffer.alloc(40 * mib, 0x20)), 413],
    ['br', brotliCompressSync(Buffer.alloc(40 * mib, 0x20)), 413],
  ])('is refused: %s %#', async (coding, body, status) => {
    const answer = await sendPacked(body, coding);
    expect(answer.status).toBe(status);
    if (status === 415) expect(answer.headers.get('accept-encoding')).toBe('gzip, br');
  });

  it('may be a form with a file', async () => {
    const workbookId = await makeWorkbook(person.client, '添付');
    const form =
      '--x\r\nContent-Disposition: form-data; name="async"\r\n\r\ntrue\r\n--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na,b\n1,2\n\r\n--x--\r\n';
    const path = `/api/v1/workbooks/${workbookId}/sources`;
    const answer = await sendPacked(gzipSync(form), 'gzip', path, 'multipart/form-data; boundary=x');
    expect([answer.status, await answer.text()]).toEqual([202, expect.any(String)]);
  });
});

describe('a body that trickles', () => {
  /** Reads one request's body at this pace, and returns how that ended. */
  async function readSlowly(pace: Pace, send: (socket: Socket) => Promise<void>): Promise<string> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => {});
    const asked = once(server, 'request');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n');
    const [request] = (await asked) as [IncomingMessage];
    const sending = send(socket);
    let outcome = 'whole';
    try {
      for await (const _ of readChunks(request, pace));
    } catch (error) {
      outcome = error instanceof DomainError ? error.detail : String(error);
    }
    socket.destroy();
    await sending;
    server.close();
    return outcome;
  }
  const trickle = (bytes: number) => async (socket: Socket) => {
    while (socket.writable) {
      socket.write('x'.repeat(bytes));
      await new Promise((done) => setTimeout(done, 20));
    }
  };
  const late = 'The body came too slowly.';

  it.each([
    ['a silent sender', { patienceMs: 100, bytesPerSecond: 1000, wholeMs: 60_000 }, async () => {}, late],
    ['a byte now and then', { patienceMs: 200, bytesPerSecond: 100_000, wholeMs: 60_000 }, trickle(1), late],
    ['fast enough, but for too long', { patienceMs: 60_000, bytesPerSecond: 1, wholeMs: 200 }, trickle(1), late],
    ['fast enough', { patienceMs: 60_000, bytesPerSecond: 1, wholeMs: 60_000 }, trickle(10_000), 'whole'],
  ])('%s', async (_who, pace, send, outcome) => {
    expect(await readSlowly(pace, send)).toBe(outcome);
  });

  it('holds no connection once it is answered', async () => {
    const socket = openSocket();
    socket.write('POST /api/v1/workbooks HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{');
    const text = await readToEnd(socket);
    expect(text).toMatch(/^HTTP\/1\.1 401 /);
    expect(text).toMatch(/^Connection: close\r$/m);
  });

  it('holds no connection of a reading that ignores it', async () => {
    const socket = openSocket();
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{');
    expect(await readToEnd(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('a connection that holds on', () => {
  const shortly = { ...usualLimits, limitsAddresses: false, headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 20 };
  /** What a server of little patience says to a client that never closes its side. */
  async function talk(send: (socket: Socket) => void): Promise<string> {
    const server = makeHttpServer((_, response) => response.end('read'), pino({ level: 'silent' }), shortly).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => {});
    const gone = once(server, 'connection').then(([accepted]) => once(accepted as Socket, 'close'));
    send(socket);
    const text = await readToEnd(socket);
    await gone;
    socket.destroy();
    server.close();
    return text;
  }

  it.each([
    ['without a word', () => {}, /^HTTP\/1\.1 400 .*did not arrive in time/s],
    [
      'in the middle of its headers',
      (socket: Socket) => socket.write('GET / HTTP/1.1\r\nHost: x\r\nX-A: '),
      /^HTTP\/1\.1 400 .*did not arrive in time/s,
    ],
    ['after what is not HTTP', (socket: Socket) => socket.write('nonsense\r\n\r\n'), /^HTTP\/1\.1 400 .*not well-formed HTTP/s],
  ])('%s is closed', async (_, send, said) => {
    expect(await talk(send)).toMatch(said);
  });
});

describe('connections', () => {
  it('with two Host headers are refused', async () => {
    const socket = openSocket();
    socket.end('GET /healthz HTTP/1.1\r\nHost: a\r\nhost: b\r\nConnection: close\r\n\r\n');
    const text = await readToEnd(socket);
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain('more than one Host header');
  });

  it('of one address are limited until they show a credential', async () => {
    const ask = async (socket: Socket, token?: string) => {
      socket.write(`GET /api/v1/me HTTP/1.1\r\nHost: x\r\n${token ? `Authorization: Bearer ${token}\r\n` : ''}\r\n`);
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      return Number(/^HTTP\/1\.1 (\d+)/.exec(String(chunk))?.[1]);
    };
    const known = await Promise.all(Array.from({ length: 10 }, openSocket));
    expect(await Promise.all(known.map((socket) => ask(socket, person.session)))).toEqual(Array(10).fill(200));
    const strangers = Array.from({ length: 300 }, openSocket);
    const closed = strangers.map((socket) => once(socket, 'close'));
    const texts: string[] = [];
    for (const socket of strangers) socket.on('data', (chunk: Buffer) => texts.push(String(chunk)));
    await expect.poll(() => texts.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(30);
    expect(texts.every((text) => text.startsWith('HTTP/1.1 429 ') && text.includes('Retry-After: '))).toBe(true);
    expect(texts.length).toBeLessThanOrEqual(300 - 200);
    expect(await ask(known[0] as Socket, person.session)).toBe(200);
    // What a refused connection asks for is not done.
    const late = openSocket();
    const body = JSON.stringify({ title: 'refused' });
    late.write(
      `POST /api/v1/workbooks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${person.session}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    expect(await readToEnd(late)).toMatch(/^HTTP\/1\.1 429 /);
    const { rows } = await api.sql.query("SELECT FROM workbooks WHERE title = 'refused'");
    expect(rows).toEqual([]);
    for (const socket of [...strangers, ...known]) socket.destroy();
    await Promise.all(closed);
    await expect.poll(async () => (await askRaw(`${api.url}/healthz`)).status).toBe(200);
    ok(await person.client.GET('/api/v1/me'));
  });
});
