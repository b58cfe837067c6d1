import { rm, writeFile } from 'node:fs/promises';
import { inflateRawSync } from 'node:zlib';
import { tableFromIPC } from 'apache-arrow';
import type { Services } from '../../../store/services.ts';

/** Values that stand in hidden columns and nowhere else, and names of columns that only a denied one has. */

export const columns = {
  shown: { name: 'person', at: (row: number) => `person ${row}` },
  group: { name: 'grouped', at: (row: number) => (row % 2 === 0 ? 'north' : 'south') },
  deniedText: { name: 'denysalary', at: (row: number) => `kanariedeny${row}x` },
  deniedNumber: { name: 'denynumber', at: (row: number) => 731_904_000 + row },
  maskedText: { name: 'maskaddress', at: (row: number) => `kanariemask${row}x` },
  maskedNumber: { name: 'masknumber', at: (row: number) => 842_051_000 + row },
};
export const deniedNames = [columns.deniedText.name, columns.deniedNumber.name];
export const maskedNames = [columns.maskedText.name, columns.maskedNumber.name];

const values = /kanarie(?:deny|mask)\w*|7\D?3\D?1\D?9\D?0\D?4\D?0\D?\d\D?\d|8\D?4\D?2\D?0\D?5\D?1\D?0\D?\d\D?\d/gi;
const names = new RegExp(deniedNames.join('|'), 'gi');

export function findValues(text: string): string[] {
  return [...new Set(text.match(values) ?? [])];
}

export function findNames(text: string): string[] {
  return [...new Set(text.match(names) ?? [])];
}

/** All that an answer's body says, as text: what is packed is unpacked. */
export async function readableText(services: Services, bytes: Buffer): Promise<string> {
  const head = bytes.subarray(0, 4).toString('latin1');
  if (head.startsWith('PK')) {
    const parts = await Promise.all(unzip(bytes).map(async ({ name, content }) => `${name}\n${await readableText(services, content)}`));
    return parts.join('\n');
  }
  if (head === 'PAR1') return readParquet(services, bytes);
  if (head === '\xff\xff\xff\xff')
    return JSON.stringify(tableFromIPC(bytes).toArray(), (_, value) => (typeof value === 'bigint' ? String(value) : value));
  return bytes.toString();
}

async function readParquet({ engine, blobs }: Services, bytes: Buffer): Promise<string> {
  const path = await blobs.draft();
  try {
    await writeFile(path, bytes);
    return await engine.use(async (connection) => {
      const reader = await connection.runAndReadAll(`SELECT CAST(to_json(r) AS VARCHAR) FROM read_parquet('${path}') AS r`);
      const described = await connection.runAndReadAll(`SELECT CAST(to_json(s) AS VARCHAR) FROM parquet_schema('${path}') AS s`);
      return [...reader.getRows(), ...described.getRows(), bytes.toString('latin1')].join('\n');
    });
  } finally {
    await rm(path, { force: true });
  }
}

/** By the directory at the end of the file. */
function unzip(bytes: Buffer): { name: string; content: Buffer }[] {
  const end = bytes.lastIndexOf('PK\x05\x06', undefined, 'latin1');
  const files: { name: string; content: Buffer }[] = [];
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [method, packed] = [bytes.readUInt16LE(at + 10), bytes.readUInt32LE(at + 20)];
    const [nameLength, extraLength, noteLength] = [bytes.readUInt16LE(at + 28), bytes.readUInt16LE(at + 30), bytes.readUInt16LE(at + 32)];
    const local = bytes.readUInt32LE(at + 42);
    const from = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const content = bytes.subarray(from, from + packed);
    files.push({ name: bytes.toString('utf8', at + 46, at + 46 + nameLength), content: method === 0 ? content : inflateRawSync(content) });
    at += 46 + nameLength + extraLength + noteLength;
  }
  return files;
}
