import ipaddr from 'ipaddr.js';
import { DomainError } from '../errors.ts';
import { isInNetworks } from '../networkAddress.ts';
import { type AllowedTarget, bareHost } from './allowedTarget.ts';

/** Where requests to addresses that users name may go. */
export interface OutboundRules {
  allowed: AllowedTarget[];
  /** Where the service itself answers. It is never called, whatever is allowed. */
  own: { urls: string[]; addresses: string[]; port: number };
}

export interface Destination {
  url: URL;
  /** A name in lower case, or an address without brackets. */
  host: string;
  port: number;
}

const defaultPorts: Record<string, number> = { 'http:': 80, 'https:': 443 };
const longestUrl = 2_000;

/** Reads an address as browsers do, which turns octal, hexadecimal and dotless forms of IPv4 into the plain one. */
export function readDestination(text: string, rules: OutboundRules): Destination {
  const url = text.length <= longestUrl && URL.canParse(text) ? new URL(text) : null;
  const usualPort = url === null ? undefined : defaultPorts[url.protocol];
  if (url === null || usualPort === undefined || url.hostname === '')
    throw refuse(
      'Only addresses that begin with http:// or https:// can be called.',
      'Send a complete address of at most 2,000 characters.',
    );
  if (url.username !== '' || url.password !== '')
    throw refuse('The address holds a user name or password.', 'Leave out what stands before the @.');
  const destination = { url, host: bareHost(url.hostname), port: url.port === '' ? usualPort : Number(url.port) };
  const isOwn = rules.own.urls.some((own) => {
    const { hostname, port, protocol } = new URL(own);
    return bareHost(hostname) === destination.host && Number(port || defaultPorts[protocol]) === destination.port;
  });
  if (isOwn) throw ownAddress();
  if (ipaddr.isValid(destination.host)) requireReachable(destination, [destination.host], rules);
  return destination;
}

/** Names that the configuration allows are looked up as this machine does it, hosts file included; all others in the DNS alone. */
export function isNamedByRules({ host, port }: Destination, { allowed }: OutboundRules): boolean {
  return allowed.some((target) => !target.isNetwork && target.host === host && (target.port ?? port) === port);
}

/** Throws unless a connection may be made to each of the addresses that the host stands for. */
export function requireReachable(destination: Destination, addresses: string[], rules: OutboundRules): void {
  const { port } = destination;
  if (addresses.length === 0) throw refuse(`The host ${destination.host} has no address.`, 'Check the spelling of the address.');
  if (port === rules.own.port && addresses.some((address) => isInNetworks(address, rules.own.addresses))) throw ownAddress();
  if (isNamedByRules(destination, rules)) return;
  const networks = rules.allowed.filter((target) => target.isNetwork && (target.port ?? port) === port).map(({ host }) => host);
  if (addresses.every((address) => isPublicAddress(address) || isInNetworks(address, networks))) return;
  throw refuse(
    `The host ${destination.host} is not on the public internet.`,
    'Use a public address, or have the operator add the host to SVC_OUTBOUND_ALLOW.',
  );
}

/** Inside Azure this address, public by its number, is the machine's own control service. */
const azureHost = '168.63.129.16';

/** Whether it belongs to somebody on the public internet; the IPv4 address inside a mapped or NAT64 one decides for that. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.range() === 'unicast' && parsed.toString() !== azureHost;
  const bytes = parsed.toByteArray();
  if (parsed.match(ipaddr.parseCIDR('64:ff9b::/96'))) return isPublicAddress(bytes.slice(12).join('.'));
  // Only 2000::/3 is given out. ::127.0.0.1, for one, counts as unicast otherwise.
  return parsed.range() === 'unicast' && ((bytes[0] as number) & 0xe0) === 0x20;
}

function ownAddress(): DomainError {
  return refuse('The address is that of this service.', 'Name the address of another system.');
}

function refuse(detail: string, suggestedFix: string): DomainError {
  return new DomainError('url-refused', detail, suggestedFix);
}
