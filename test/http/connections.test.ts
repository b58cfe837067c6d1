import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Pace, readChunks } from '../../api/http/chunks.ts';
import { closeServer, makeHttpServer, usualLimits } from '../../api/http/httpServer.ts';
import { readQuery } from '../../api/http/readQuery.ts';
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

describe('a body that would take long to read', () => {
  const post = (path: string, body: string) =>
    api.fetch(path, { method: 'POST', token: person.session, headers: { 'Content-Type': 'application/json' }, body });

  it('is refused where nothing long is expected', async () => {
    const answer = await post('/api/v1/workbooks', JSON.stringify({ title: 'x'.repeat(5 * mib) }));
    expect([answer.status, await answer.json()]).toMatchObject([413, { detail: 'The body is larger than 4096 KiB.' }]);
  });

  it('is refused for its many parts, wherever they stand', async () => {
    const workbookId = await makeWorkbook(person.client, '表');
    const path = `/api/v1/workbooks/${workbookId}/tables/t/rows`;
    for (const body of [`{"rows":[${'{},'.repeat(600_000)}{}]}`, `{"x":[${'[[1]],'.repeat(300_000)}1],"rows":[]}`]) {
      const answer = await post(path, body);
      expect([answer.status, await answer.json()]).toMatchObject([413, { detail: expect.stringContaining('500000 objects and lists') }]);
    }
  });

  it('is not one with brackets in its texts', async () => {
    const answer = await post('/api/v1/workbooks', JSON.stringify({ title: '[{"'.repeat(600_000) }));
    expect(answer.status).toBe(422);
  });
});

describe('an address with thousands of parameters', () => {
  it('is read once, not once for each', async () => {
    const looks = vi.spyOn(URLSearchParams.prototype, 'getAll');
    try {
      const answer = await api.fetch(`/healthz?${'limit=1&'.repeat(5000)}`);
      expect([answer.status, looks.mock.calls.length]).toEqual([422, 0]);
    } finally {
      looks.mockRestore();
    }
  });

  it.each([
    ['a=1&b=2&a=3', { a: ['1', '3'], b: '2' }],
    ['a=%E8%A1%A8&a&', { a: ['表', ''] }],
    ['', {}],
  ])('gives the values of each: %s', (text, values) => {
    expect(readQuery(text)).toEqual(values);
  });

  it('gives a name that every object has as its own', () => {
    expect(Object.entries(readQuery('__proto__=1&constructor=2'))).toEqual([
      ['__proto__', '1'],
      ['constructor', '2'],
    ]);
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

  it('without a word does not keep the server from ending, an answer that is still to come does', async () => {
    let answer = () => {};
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const server = makeHttpServer((_, response) => void asked.then(() => response.end('done')), pino({ level: 'silent' }), {
      ...usualLimits,
      limitsAddresses: false,
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const open = () => connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
    const request = once(server, 'request');
    const asker = open();
    asker.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await request;
    const accepted = once(server, 'connection');
    const silent = open();
    await accepted;
    const closed = closeServer(server);
    await once(silent, 'close');
    answer();
    expect(await readToEnd(asker)).toContain('done');
    await closed;
  });

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
  const send = (headers: string) => {
    const socket = openSocket();
    socket.end(`GET /healthz HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`);
    return readToEnd(socket);
  };

  it.each([
    ['two Host headers', 'Host: a\r\nhost: b\r\n', 'more than one Host header'],
    ['two hosts in one', 'Host: a, b\r\n', 'more than one Host header'],
    ['a second one behind thousands of others', `Host: a\r\n${'X: y\r\n'.repeat(3000)}Host: b\r\n`, 'more than one Host header'],
    ['none', '', 'no Host header'],
  ])('with %s are refused', async (_, headers, why) => {
    const text = await send(headers);
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain(why);
    expect(text).toContain('X-Content-Type-Options: nosniff');
  });

  it('with an expectation that is not known are answered', async () => {
    expect(await send('Host: a\r\nExpect: nothing\r\n')).toMatch(/^HTTP\/1\.1 200 /);
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
    await expect.poll(() => texts.length).toBeGreaterThanOrEqual(30);
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
