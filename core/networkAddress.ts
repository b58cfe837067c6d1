import ipaddr from 'ipaddr.js';

/** What counts as one sender: an IPv4 address, or the /64 of an IPv6 one, which is what a single customer is given. */
export function groupAddress(address: string): string {
  if (!ipaddr.isValid(address)) return address.slice(0, 64);
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString()}/64`;
}

/** An address, or a network such as 10.0.0.0/8. */
export function isNetwork(text: string): boolean {
  return ipaddr.isValidCIDR(text) || ipaddr.isValid(text);
}

export function isInNetworks(address: string, networks: string[]): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return networks.some((network) => {
    const [from, bits] = ipaddr.parseCIDR(network.includes('/') ? network : `${network}/${network.includes(':') ? 128 : 32}`);
    return from.kind() === parsed.kind() && parsed.match(from, bits);
  });
}
