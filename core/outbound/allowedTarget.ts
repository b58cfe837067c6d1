import ipaddr from 'ipaddr.js';

/** Something that may be reached although it is not public: an entry of SVC_OUTBOUND_ALLOW. */
export interface AllowedTarget {
  /** A name as it stands in an address, or a network. */
  host: string;
  isNetwork: boolean;
  /** null: any port. */
  port: number | null;
}

/** Reads `files.internal`, `files.internal:8443`, `10.0.0.0/8`, `10.1.2.3`, `10.1.2.3:80`, `[fd00::1]:80`; null for anything else. */
export function parseAllowedTarget(text: string): AllowedTarget | null {
  if (ipaddr.isValidCIDR(text)) return { host: text, isNetwork: true, port: null };
  if (ipaddr.IPv6.isValid(text)) return { host: `${text}/128`, isNetwork: true, port: null };
  const [, host = '', port] = /^(\[[0-9a-f:.]+\]|[^\s/:@?#[\]]+)(?::(\d{1,5}))?$/i.exec(text) ?? [];
  if (host === '' || (port !== undefined && (Number(port) < 1 || Number(port) > 65535))) return null;
  if (!URL.canParse(`http://${host}`)) return null;
  const named = { port: port === undefined ? null : Number(port) };
  const bare = bareHost(new URL(`http://${host}`).hostname);
  if (!ipaddr.isValid(bare)) return { host: bare, isNetwork: false, ...named };
  return { host: `${bare}/${bare.includes(':') ? 128 : 32}`, isNetwork: true, ...named };
}

/** As it is written in the configuration. */
export function formatAllowedTarget({ host, isNetwork, port }: AllowedTarget): string {
  if (port === null) return host;
  const address = isNetwork ? host.replace(/\/\d+$/, '') : host;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

/** A host without the brackets of IPv6 addresses and without the dot that ends a full name. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}
