import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Served {
  url: string;
  /** Paths that were asked for, with their query. */
  asked: string[];
}

/** Answers requests at an address of its own on this machine. It ends with the process. */
export async function serve(listener: RequestListener): Promise<Served> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** The address of a file. */
export async function serveFile(name: string, content: string | Uint8Array, headers: Record<string, string> = {}): Promise<string> {
  const { url } = await serve((_request, response) => response.writeHead(200, headers).end(content));
  return `${url}/${encodeURIComponent(name)}`;
}
