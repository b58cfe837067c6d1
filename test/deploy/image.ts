import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { findFreePort } from '../../scripts/embedded/ports.ts';
import { waitUntil } from '../faults/product.ts';
import { type Image, makeImage, systemPath } from './imageSteps.ts';
import { isAtWork, type OwnServices, withServices } from './ownServices.ts';

/**
 * `npm run image`: the steps of deploy/Dockerfile in a clean folder, then what comes out of them, as another user who may write
 * nothing of it: migration, a worker and an API, a file, a query and a Python transform, the console, and a stop.
 */
const isRoot = process.getuid?.() === 0;

function start({ registry, env }: OwnServices, image: Image, part: string) {
  console.log(`starting   ${part}`);
  const [program = '', ...args] = image.entry;
  const child = spawn(program, [...args, part], {
    cwd: image.workDir,
    env: { PATH: systemPath, HOME: '/nonexistent', ...image.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(isRoot ? image.user : {}),
  });
  if (child.pid) registry.track({ name: part, pid: child.pid, order: 0, steps: [{ signal: 'SIGTERM', waitMs: 15_000 }] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const ended = new Promise<number | null>((done) => child.once('close', (code) => done(code)));
  return { child: child as ChildProcess, ended, output: () => text };
}

/** Signs up, and has the service do a bit of everything that needs a part of the image. */
async function use(url: string): Promise<void> {
  const send = async (path: string, token: string, body: object | FormData) => {
    const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
    if (!(body instanceof FormData)) headers['content-type'] = 'application/json';
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: body instanceof FormData ? body : JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  };
  const { session_token: token } = (await send('/api/auth/signup', '', {
    email: 'image@example.com',
    password: 'correct horse battery',
    name: 'Image',
  })) as { session_token: string };
  const { id } = await send('/api/v1/workbooks', token, { title: 'Image' });
  const form = new FormData();
  form.set('file', new Blob(['品番,数量\nA-1,1\nB-2,2\n']), '在庫.csv');
  await send(`/api/v1/workbooks/${id}/sources`, token, form);
  const queried = await send(`/api/v1/workbooks/${id}/query`, token, { sql: 'SELECT sum(数量)::INT AS total FROM 在庫' });
  if (JSON.stringify(queried.rows) !== '[{"total":3}]') throw new Error(`the query gave ${JSON.stringify(queried.rows)}`);
  await send(`/api/v1/workbooks/${id}/transforms`, token, {
    name: 'doubled',
    language: 'python',
    template: 'def transform(t):\n    t["twice"] = t["数量"] * 2\n    return t[["twice"]]\n',
    args: { t: '在庫' },
  });
}

/** The page for people, and every file that it names. */
async function openPage(url: string): Promise<void> {
  const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
  const parts = /name="console-parts" content="([^"]+)"/.exec(page)?.[1]?.split(' ') ?? [];
  const files = [...page.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, path]) => path ?? '');
  if (files.length < 2 || parts.length < 5) throw new Error(`the console names too few files:\n${page}`);
  for (const path of [...files, ...parts.map((part) => `/console/${part}`)]) {
    const { status } = await fetch(`${url}${path}`);
    if (status !== 200) throw new Error(`${path}: ${status}`);
  }
}

async function check(services: OwnServices): Promise<void> {
  const image = makeImage(join(services.root, 'image'));
  if (isRoot) spawnSync('chmod', ['-R', 'go-w,go+rX', image.workDir]);
  const port = await findFreePort();
  const own = { ...services, env: { ...services.env, PORT: String(port), HOST: '127.0.0.1' } };
  const migration = start(own, image, 'migrate');
  if ((await migration.ended) !== 0) throw new Error(`the migration failed:\n${migration.output()}`);
  const parts = [start(own, image, 'worker'), start(own, image, 'api')];
  const url = `http://127.0.0.1:${port}`;
  await waitUntil(
    () => isAtWork(url),
    120_000,
    () => 'not ready',
  );
  await use(url);
  await openPage(url);
  for (const { child } of parts) child.kill('SIGTERM');
  for (const { ended, output } of parts) if ((await ended) !== 0) throw new Error(`it did not stop well:\n${output()}`);
}

try {
  await withServices(check);
  console.log('The steps of the image work: 1 passed, 0 failed');
} catch (error) {
  console.error(error);
  process.exitCode = 1;
}
