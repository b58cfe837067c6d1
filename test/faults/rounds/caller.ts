import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

export interface Answer {
  status: number;
  headers: Headers;
  bytes: Buffer;
  json(): Record<string, unknown>;
}

export interface Request {
  method: 'GET' | 'POST' | 'DELETE' | 'PATCH' | 'PUT';
  path: string;
  json?: unknown;
  form?: FormData;
  key?: string;
  token?: string;
}

/** Somebody who goes on with their work whatever happens to the service, and writes down every answer that nobody should get. */
export class Caller {
  readonly unexpected: string[] = [];
  /** The service is gone for good: nobody tries again. */
  isOver = false;

  constructor(
    private readonly url: string,
    public token: string,
  ) {}

  /** Sends it once. Null: there was no answer. */
  async send({ method, path, json, form, key, token = this.token }: Request): Promise<Answer | null> {
    try {
      const response = await fetch(`${this.url}${path}`, {
        method,
        headers: {
          ...(token ? { Authorization: `Bearer ${token}` } : {}),
          ...(json === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...(key ? { 'Idempotency-Key': key } : {}),
        },
        body: form ?? (json === undefined ? undefined : JSON.stringify(json)),
        signal: AbortSignal.timeout(120_000),
      });
      const bytes = Buffer.from(await response.arrayBuffer());
      const { status, headers } = response;
      const answer = { status, headers, bytes, json: () => JSON.parse(bytes.toString()) as Record<string, unknown> };
      if (status >= 400 && !mayBeTriedAgain(answer)) this.unexpected.push(`${method} ${path}: ${status} ${bytes.toString().slice(0, 400)}`);
      return answer;
    } catch {
      return null;
    }
  }

  /** Sends it again, under the same key, until it is answered: what changes something is then done once. */
  async insist(request: Request): Promise<Answer> {
    const key = request.method === 'GET' ? undefined : (request.key ?? randomUUID());
    for (;;) {
      const answer = await this.send({ ...request, key });
      if (answer && answer.status < 400) return answer;
      if (answer && !mayBeTriedAgain(answer)) throw new Error(`${request.method} ${request.path}: ${answer.status} ${answer.bytes}`);
      if (this.isOver) throw new Error(`${request.method} ${request.path} was never answered`);
      await delay(100);
    }
  }

  async get(path: string): Promise<Record<string, unknown>> {
    return (await this.insist({ method: 'GET', path })).json();
  }

  async post(path: string, json: unknown): Promise<Record<string, unknown>> {
    return (await this.insist({ method: 'POST', path, json })).json();
  }
}

/** What the problem documents say to wait for. */
function mayBeTriedAgain({ status, bytes }: Answer): boolean {
  return status === 503 || status === 429 || (status === 409 && bytes.includes('urn:svc:problem:idempotency-in-progress'));
}
