import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Product, startProduct, waitForOutput, waitForReady } from '../faults/product.ts';

/** The product as people start it, and persons who do not know each other. */
export interface World {
  product: Product;
  addPerson(name: string): Promise<Person>;
  close(): Promise<void>;
}

export interface Person {
  /** Each person comes from a host of their own: an address of the loopback network. */
  address: string;
  session: string;
  workbookId: string;
  /** Sends one request on a connection of its own; it fails where there is no answer at all. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

export interface Answer {
  status: number;
  body: Buffer;
  json(): Record<string, unknown>;
}

export async function openWorld(options: { temporalCli?: string; env?: Record<string, string> } = {}): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-abuse-'));
  const product = await startProduct({
    dataDir: join(folder, 'data'),
    temporalCli: options.temporalCli ?? process.env.TEMPORAL_CLI ?? '',
    env: { SVC_LOG_LEVEL: 'warn', ...options.env },
  });
  await waitForOutput(product, 'The service is running.', 0, 600_000);
  await waitForReady(product);
  let people = 0;
  return {
    product,
    async addPerson(name) {
      people += 1;
      const address = `127.0.1.${people}`;
      const body = { email: `${name}${people}@example.com`, password: 'correct horse battery', name };
      const signedUp = await send(product, address, '', 'POST', '/api/auth/signup', body);
      if (signedUp.status !== 201) throw new Error(`${name} could not sign up: ${signedUp.body}`);
      const session = String(signedUp.json().session_token);
      const made = await send(product, address, session, 'POST', '/api/v1/workbooks', { title: name });
      if (made.status !== 201) throw new Error(`${name} has no workbook: ${made.body}`);
      return {
        address,
        session,
        workbookId: String(made.json().id),
        send: (method, path, content, headers) => send(product, address, session, method, path, content, headers),
      };
    },
    async close() {
      product.child.kill('SIGTERM');
      await product.exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function send(
  { port }: Product,
  localAddress: string,
  session: string,
  method: string,
  path: string,
  content?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const isRaw = typeof content === 'string' || content instanceof Buffer;
  const body = content === undefined ? undefined : isRaw ? content : JSON.stringify(content);
  return new Promise((resolve, reject) => {
    const outgoing = request({
      host: '127.0.0.1',
      port,
      localAddress,
      agent: false,
      method,
      path,
      headers: {
        ...(session ? { Authorization: `Bearer ${session}` } : {}),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) }),
        ...headers,
      },
    });
    outgoing.once('error', reject).once('response', (incoming) => {
      const chunks: Buffer[] = [];
      incoming
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .once('error', reject)
        .once('end', () => {
          const whole = Buffer.concat(chunks);
          resolve({ status: incoming.statusCode ?? 0, body: whole, json: () => JSON.parse(whole.toString()) });
        });
    });
    outgoing.end(body);
  });
}

/** A form with one file, and texts. */
export function fileForm(
  filename: string,
  bytes: Buffer,
  fields: Record<string, string> = {},
): { body: Buffer; headers: Record<string, string> } {
  const boundary = 'a-boundary-that-no-file-holds';
  const texts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const head = `${texts.join('')}--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\nContent-Type: application/octet-stream\r\n\r\n`;
  return {
    body: Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]),
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  };
}
