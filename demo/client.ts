import createClient, { type Client } from 'openapi-fetch';
import type { paths } from '../schema/contract.ts';

export type Say = (line: string) => void;

export interface Service {
  url: string;
  token: string;
}

/** The client that the contract's types make, which tells of every request. */
export function connect({ url, token }: Service, say: Say): Client<paths> {
  const client = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${token}` } });
  client.use({
    onResponse({ request, response }) {
      const { pathname, search } = new URL(request.url);
      say(`  ${request.method} ${decodeURIComponent(pathname + search)} → ${response.status}`);
    },
  });
  return client;
}

/** The answer, or what the service said against it. */
export function take<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }): T {
  if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(error)}`);
  return data as T;
}
