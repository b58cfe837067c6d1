import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AllowedTarget, parseAllowedTarget } from '../../core/outbound/allowedTarget.ts';
import { type Outbound, openOutbound } from '../../store/outbound/openOutbound.ts';
import { type DnsServer, startDnsServer } from '../setup/dnsServer.ts';

const publicAddress = '93.184.216.34';
let server: Server;
let port: number;
let dns: DnsServer;
let listener: RequestListener;
const hits: string[] = [];
const opened: Outbound[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    hits.push(`${request.method} ${request.headers.host} ${request.url}`);
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
  dns = await startDnsServer((name, asked) => {
    if (name.startsWith('rebinding')) return asked === 0 ? [publicAddress] : ['127.0.0.1'];
    if (name.startsWith('flipping')) return asked === 0 ? ['127.0.0.1'] : ['10.255.255.1'];
    if (name.startsWith('mixed')) return [publicAddress, '127.0.0.1'];
    if (name.startsWith('mapped')) return ['::ffff:127.0.0.1'];
    if (name.startsWith('inside')) return ['127.0.0.1'];
    if (name.startsWith('metadata')) return ['169.254.169.254'];
    return [];
  });
});
afterEach(async () => {
  hits.length = 0;
  for (const outbound of opened.splice(0)) await outbound.close();
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await dns.stop();
});

function open(...allow: string[]): Outbound {
  const allowed = allow.map((text) => parseAllowedTarget(text) as AllowedTarget);
  const outbound = openOutbound({ outbound: { allowed }, publicUrl: 'https://tables.example.com', port: 1 }, [dns.address]);
  opened.push(outbound);
  return outbound;
}

const limits = { timeoutMs: 20_000, mostBytes: 1_000 };
const openOwn = () => open(`127.0.0.1:${port}`);
const ownUrl = (path = '/') => `http://127.0.0.1:${port}${path}`;

describe('addresses', () => {
  it.each(['inside', 'mixed', 'mapped', 'metadata', 'nowhere'])('of a name that resolves to %s ones are refused', async (name) => {
    const url = `http://${name}.example.org:${port}/`;
    await expect(open().check(url)).rejects.toThrow(/^url-refused/);
    await expect(open().request(url, limits)).rejects.toThrow(/^url-refused/);
    expect(hits).toEqual([]);
  });

  it('are checked again at the connection when the name changes between check and request', async () => {
    const outbound = open();
    const url = `http://rebinding.example.org:${port}/`;
    await outbound.check(url);
    await expect(outbound.request(url, limits)).rejects.toThrow(/^url-refused/);
    expect(hits).toEqual([]);
  });

  it('that were checked are the ones connected to: the name is looked up once', async () => {
    listener = (_request, response) => response.end('reached');
    const { status, body } = await openOwn().request(`http://flipping.example.org:${port}/a?b=c`, limits);
    expect([status, await text(body)]).toEqual([200, 'reached']);
    expect(hits).toEqual([`GET flipping.example.org:${port} /a?b=c`]);
    expect(dns.asked.filter((name) => name.startsWith('flipping'))).toHaveLength(1);
  });

  it('are refused for names and literals alike without the allow-list', async () => {
    for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::ffff:127.0.0.1]'])
      await expect(open().request(`http://${host}:${port}/`, limits)).rejects.toThrow(/^url-refused/);
    expect(hits).toEqual([]);
  });

  it('of allowed names are looked up by this machine', async () => {
    listener = (_request, response) => response.end('local');
    const outbound = open(`localhost:${port}`);
    await outbound.check(`http://localhost:${port}/`);
    expect((await outbound.request(`http://localhost:${port}/`, limits)).status).toBe(200);
  });
});

describe('answers', () => {
  it('that redirect are not followed', async () => {
    listener = (_request, response) => response.writeHead(302, { Location: ownUrl('/elsewhere') }).end();
    const { status, headers } = await openOwn().request(ownUrl(), limits);
    expect([status, headers.location]).toEqual([302, ownUrl('/elsewhere')]);
    expect(hits).toHaveLength(1);
  });

  it('are cut off at the limit while they arrive, and their connection is ended', async () => {
    const closed = new Promise<void>((resolve) => {
      listener = (_request, response) => {
        const timer = setInterval(() => response.write('x'.repeat(100)), 1);
        response.on('close', () => {
          clearInterval(timer);
          resolve();
        });
      };
    });
    const { body } = await openOwn().request(ownUrl(), limits);
    await expect(text(body)).rejects.toMatchObject({ reason: 'too-large' });
    await closed;
  });

  it('are limited by what they unpack to', async () => {
    listener = (_request, response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(Buffer.alloc(1_000_000)));
    await expect(text((await openOwn().request(ownUrl(), limits)).body)).rejects.toMatchObject({ reason: 'too-large' });
    listener = (_request, response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync('small'));
    expect(await text((await openOwn().request(ownUrl(), limits)).body)).toBe('small');
    listener = (_request, response) => response.writeHead(200, { 'Content-Encoding': 'unknown' }).end('?');
    await expect(text((await openOwn().request(ownUrl(), limits)).body)).rejects.toMatchObject({ reason: 'broken' });
  });

  it('that never come or never end are given up', async () => {
    listener = () => {};
    await expect(openOwn().request(ownUrl(), { ...limits, timeoutMs: 50 })).rejects.toMatchObject({ reason: 'timeout' });
    listener = (_request, response) => response.write('and so on');
    // On a busy machine its beginning may not come in time either.
    const endless = openOwn().request(ownUrl(), { ...limits, timeoutMs: 500 });
    await expect(endless.then(({ body }) => text(body))).rejects.toMatchObject({ reason: 'timeout' });
  });

  it('that nobody reads are dropped when they are destroyed', async () => {
    const closed = new Promise<void>((resolve) => {
      listener = (_request, response) => response.on('close', resolve).write('never ending');
    });
    (await openOwn().request(ownUrl(), limits)).body.destroy();
    await closed;
  });

  it('that break off say so', async () => {
    listener = (_request, response) => {
      response.writeHead(200, { 'Content-Length': '100' }).write('part');
      setImmediate(() => response.destroy());
    };
    await expect(text((await openOwn().request(ownUrl(), limits)).body)).rejects.toMatchObject({ reason: 'broken' });
    listener = (request) => request.socket.end('no HTTP\r\n\r\n');
    await expect(openOwn().request(ownUrl(), limits)).rejects.toMatchObject({ reason: 'broken' });
  });

  it('of a port where nobody listens say so', async () => {
    await expect(open('127.0.0.1').request('http://127.0.0.1:9/', limits)).rejects.toMatchObject({ reason: 'unreachable' });
  });

  it('to a POST carry what was sent', async () => {
    listener = (request, response) => request.pipe(response);
    const sent = { method: 'POST' as const, headers: { 'content-type': 'text/plain' }, body: 'こんにちは', ...limits };
    expect(await text((await openOwn().request(ownUrl(), sent)).body)).toBe('こんにちは');
  });
});
