import type { LookupAddress } from 'node:dns';
import dns from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Readable } from 'node:stream';
import { Agent, buildConnector } from 'undici';
import { DomainError } from '../../core/errors.ts';
import {
  type Destination,
  isNamedByRules,
  type OutboundRules,
  readDestination,
  requireReachable,
} from '../../core/outbound/destination.ts';
import type { ServiceConfig } from '../config.ts';
import { limitBody } from './limitBody.ts';
import { OutboundFailure, toOutboundFailure } from './outboundFailure.ts';

export interface OutboundRequest {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** For the whole of it, to the last byte of the answer. */
  timeoutMs: number;
  /** Of the decoded answer; its body fails with `too-large` past it. */
  mostBytes: number;
  signal?: AbortSignal;
}

export interface OutboundAnswer {
  status: number;
  /** By lower-case name; of one that came several times, the first. */
  headers: Record<string, string>;
  /** Read it or destroy it: until then it holds its connection. */
  body: Readable;
}

/** The one way to call an address that a user named. Redirects are answers like others: they are not followed. */
export interface Outbound {
  /** `url-refused` unless the address may be called now. */
  check(url: string): Promise<void>;
  /** `url-refused` as above; an `OutboundFailure` when the other side cannot be reached or takes too long. */
  request(url: string, options: OutboundRequest): Promise<OutboundAnswer>;
  close(): Promise<void>;
}

const connectTimeoutMs = 10_000;
const idleTimeoutMs = 20_000;

/** `dnsServers` replaces the servers of this machine. */
export function openOutbound(config: Pick<ServiceConfig, 'outbound' | 'publicUrl' | 'port'>, dnsServers?: string[]): Outbound {
  const resolver = new dns.Resolver({ timeout: 2_000, tries: 2 });
  if (dnsServers) resolver.setServers(dnsServers);
  const rules = (): OutboundRules => ({
    allowed: config.outbound.allowed,
    own: { urls: [config.publicUrl], addresses: listOwnAddresses(), port: config.port },
  });

  /** Every address of the host, all of them checked. Names of strangers do not take the threads that getaddrinfo needs. */
  const findAddresses = async (destination: Destination): Promise<LookupAddress[]> => {
    const { host } = destination;
    const addresses = isNamedByRules(destination, rules())
      ? await dns.lookup(host, { all: true }).catch(() => [])
      : (await Promise.all([4, 6].map((family) => resolve(resolver, host, family)))).flat();
    requireReachable(
      destination,
      addresses.map(({ address }) => address),
      rules(),
    );
    return addresses;
  };

  const agent = new Agent({
    connections: 32,
    headersTimeout: idleTimeoutMs,
    bodyTimeout: idleTimeoutMs,
    connect(options, callback) {
      const { protocol, hostname, port } = options;
      connectChecked().catch((error: Error) => callback(error, null));
      async function connectChecked(): Promise<void> {
        const host = hostname.includes(':') && !hostname.startsWith('[') ? `[${hostname}]` : hostname;
        const destination = readDestination(`${protocol}//${host}${port ? `:${port}` : ''}`, rules());
        // The connection is made to the addresses that were checked: the name is not looked up again.
        const addresses = isIP(destination.host) > 0 ? [] : await findAddresses(destination);
        buildConnector({ timeout: connectTimeoutMs, lookup: answerWith(addresses) })(options, callback);
      }
    },
  });

  return {
    async check(url) {
      const destination = readDestination(url, rules());
      if (isIP(destination.host) === 0) await findAddresses(destination);
    },
    async request(text, { method = 'GET', headers = {}, body, timeoutMs, mostBytes, signal }) {
      const { url } = readDestination(text, rules());
      const timeout = AbortSignal.timeout(timeoutMs);
      try {
        const answer = await agent.request({
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method,
          headers: { 'accept-encoding': 'identity', 'user-agent': 'workbook-data-service', ...headers },
          body: body ?? null,
          signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
        });
        const first = Object.entries(answer.headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]);
        const own = Object.fromEntries(first.filter(([, value]) => value !== undefined)) as Record<string, string>;
        return { status: answer.statusCode, headers: own, body: limitBody(answer.body, own['content-encoding'], mostBytes) };
      } catch (error) {
        if (error instanceof DomainError || error instanceof OutboundFailure || signal?.aborted) throw error;
        throw toOutboundFailure(error);
      }
    },
    close: () => agent.destroy(),
  };
}

async function resolve(resolver: dns.Resolver, host: string, family: number): Promise<LookupAddress[]> {
  const found = family === 4 ? resolver.resolve4(host) : resolver.resolve6(host);
  return (await found.catch(() => [])).map((address) => ({ address, family }));
}

function answerWith(addresses: LookupAddress[]): LookupFunction {
  return (_host, { all }, callback) => {
    const [first] = addresses;
    if (!first) callback(new Error('a literal address needs no lookup'), '');
    else if (all) callback(null, addresses);
    else callback(null, first.address, first.family);
  };
}

/** Those of this machine; the unspecified ones lead to it as well. */
function listOwnAddresses(): string[] {
  const interfaces = Object.values(networkInterfaces()).flatMap((ones) => ones ?? []);
  return ['127.0.0.0/8', '0.0.0.0', '::1', '::', ...interfaces.map(({ address }) => address.replace(/%.*$/, ''))];
}
