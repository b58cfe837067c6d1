import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

/** An answer as it comes over the line: not decompressed, no header added to the request. */
export async function askRaw(url: string, headers: Record<string, string> = {}, method = 'GET', body?: string): Promise<RawAnswer> {
  const answer = await openAnswer(url, headers, method, body);
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  return { status: answer.statusCode ?? 0, headers: answer.headers, bytes: Buffer.concat(parts) };
}

/** The answer's head; its body is read by the caller, or not. */
export function openAnswer(url: string, headers: Record<string, string> = {}, method = 'GET', body?: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers }, resolve);
    asked.on('error', reject);
    asked.end(body);
  });
}
