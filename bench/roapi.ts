import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { preparePython } from './preparePython.ts';

/** roapi: a server of SQL over files, without accounts, policies or kept results, that holds its tables in memory. From PyPI. */
export interface Roapi {
  url: string;
  stop(): Promise<void>;
}

/** Null, and a loud line, where it cannot be had. */
export async function startRoapi(tables: Record<string, { uri: string; sheet: string }>): Promise<Roapi | null> {
  const python = await preparePython('bench-roapi', ['roapi==0.12.7'], "import importlib.metadata as m; m.version('roapi')").catch(
    (error: unknown) => {
      console.log(
        `!! roapi cannot be had here (${error instanceof Error ? error.message.split('\n')[0] : error}): nothing is compared with it.`,
      );
      return null;
    },
  );
  if (python === null) return null;
  const program = join(dirname(python), 'roapi');
  const port = await freePort();
  const list = Object.entries(tables).flatMap(([name, { uri, sheet }]) => ['--table', `${name}=${uri},format=xlsx,sheet_name=${sheet}`]);
  const child = spawn(program, ['--addr-http', `127.0.0.1:${port}`, ...list], { stdio: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 200; tries += 1) {
    const answer = await fetch(`${url}/api/sql`, { method: 'POST', body: 'SELECT 1 AS x' }).catch(() => null);
    if (answer?.ok) break;
    if (child.exitCode !== null) throw new Error('roapi ended at its start');
    await delay(100);
  }
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  server.close();
  return typeof address === 'object' && address ? address.port : 0;
}
