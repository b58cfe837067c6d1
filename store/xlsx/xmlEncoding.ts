/** Parts are UTF-8 nearly always; UTF-16 is allowed, and some programs declare others. The scanners see UTF-8 only. */

import { refuseDamaged } from './fileRefusals.ts';

/** Null for UTF-8. */
function detectXmlEncoding(head: Buffer): string | null {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  if (head[0] === 0x3c && head[1] === 0) return 'utf-16le';
  if (head[0] === 0 && head[1] === 0x3c) return 'utf-16be';
  const declared = /^(?:\u00ef\u00bb\u00bf)?<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']/
    .exec(head.toString('latin1', 0, 200))?.[1]
    ?.toLowerCase();
  if (!declared || declared === 'utf-8' || declared === 'utf8' || declared === 'us-ascii' || declared.startsWith('utf-16')) return null;
  return declared;
}

function makeDecoder(encoding: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(encoding);
  } catch (error) {
    throw refuseDamaged(`a part is in the unknown encoding ${encoding}`, error);
  }
}

/** U+0000, which neither XML nor the database can hold. */
function refuseNul<T extends Buffer | string>(content: T): T {
  if (content.includes('\u0000')) throw refuseDamaged('a part contains NUL bytes');
  return content;
}

export function decodeXml(bytes: Buffer): string {
  return refuseNul(makeDecoder(detectXmlEncoding(bytes) ?? 'utf-8').decode(bytes));
}

/** The same for a part that comes in chunks. */
export async function* recodeXml(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let decoder: InstanceType<typeof TextDecoder> | null | undefined;
  for await (const chunk of chunks) {
    if (decoder === undefined) {
      const encoding = detectXmlEncoding(chunk);
      decoder = encoding ? makeDecoder(encoding) : null;
    }
    yield refuseNul(decoder ? Buffer.from(decoder.decode(chunk, { stream: true })) : chunk);
  }
  if (decoder) yield refuseNul(Buffer.from(decoder.decode()));
}
