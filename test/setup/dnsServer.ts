import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';
import ipaddr from 'ipaddr.js';

export interface DnsServer {
  /** host:port, for the client's list of servers. */
  address: string;
  /** Names in the order in which their IPv4 addresses were asked for. */
  asked: string[];
  stop(): Promise<void>;
}

/** A DNS server on UDP. `answer` gives the addresses of a name each time it is asked for them. */
export async function startDnsServer(answer: (name: string, asked: number) => string[]): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query, sender) => {
    const { name, end } = readName(query, 12);
    const type = query.readUInt16BE(end);
    const isV6 = type === 28;
    if (!isV6) asked.push(name);
    const before = asked.filter((one) => one === name).length - 1;
    const records = answer(name, Math.max(before, 0))
      .map((address) => Buffer.from(ipaddr.parse(address).toByteArray()))
      .filter((bytes) => bytes.length === (isV6 ? 16 : 4));
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(records.length, 6);
    header.writeUInt32BE(0, 8);
    const answers = records.map((bytes) => {
      const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length]);
      return Buffer.concat([head, bytes]);
    });
    socket.send(Buffer.concat([header, query.subarray(12, end + 4), ...answers]), sender.port, sender.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address() as AddressInfo;
  return { address: `127.0.0.1:${port}`, asked, stop: () => new Promise((resolve) => socket.close(() => resolve())) };
}

function readName(query: Buffer, from: number): { name: string; end: number } {
  const labels: string[] = [];
  let at = from;
  for (let length = query[at] as number; length > 0; length = query[at] as number) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}
