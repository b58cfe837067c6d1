import { realpathSync } from 'node:fs';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { chooseUser, endClusterProcesses, ensureCluster, placeCluster } from './cluster.ts';
import { findFreePort } from './ports.ts';
import { findBinaries, postgresEnv } from './postgresBinaries.ts';
import { ensurePostgresUser } from './postgresUser.ts';
import { sendSignal, stopSteps } from './processes.ts';
import type { ProcessRegistry } from './processRegistry.ts';
import type { Report } from './report.ts';
import type { RunningProcess } from './runningProcess.ts';
import { ensureSecrets } from './secrets.ts';
import { spawnServer } from './spawnServer.ts';

interface PostgresOptions {
  dataDir: string;
  report: Report;
  registry: ProcessRegistry;
  /** The port of an earlier start, so that its address stays valid; a free one when not given. */
  port?: number;
  settings?: Record<string, string>;
  signal?: AbortSignal;
}

export interface RunningPostgres extends RunningProcess {
  /** Of the service's own role, which may create databases. */
  url: string;
  port: number;
}

/** For a small machine; everything about durability stays as PostgreSQL has it. */
const defaultSettings: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  max_connections: '200',
  shared_buffers: '256MB',
  wal_compression: 'on',
  random_page_cost: '1.1',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'warning',
};

const role = 'svc';
const database = 'svc';

export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const { report, registry, signal } = options;
  await mkdir(options.dataDir, { recursive: true, mode: 0o700 });
  // PostgreSQL is known by its folder as the kernel names it, which has no symbolic links.
  const dataDir = realpathSync(options.dataDir);
  const secrets = ensureSecrets(dataDir);
  const root = ensurePostgresUser();
  const dir = await placeCluster(dataDir, root, report);
  const user = await chooseUser(dir, root);
  const binaries = await findBinaries(user, report);
  await ensureCluster({ dir, binaries, user, adminPassword: secrets.postgresAdmin, report, registry, signal });
  await endClusterProcesses(dir, report.say);
  await chmod(dir, 0o700);

  // A socket file costs half of what a connection over the network does, on both sides.
  const socketDir = canHoldSocket(dir) ? dir : '';
  const settings = { ...defaultSettings, unix_socket_directories: socketDir, ...options.settings };
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await findFreePort());
    const running = spawnServer({
      name: 'postgres',
      program: binaries.postgres,
      args: ['-D', dir, '-p', String(port), ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      env: postgresEnv(),
      user: user?.ids,
      logPath: join(dataDir, 'logs', 'postgres.log'),
      registry,
      order: 2,
      steps: stopSteps.postgres,
      stepsAlone: stopSteps.postgresAlone,
    });
    let socket = '';
    try {
      const login = { host: '127.0.0.1', port, password: secrets.postgresAdmin };
      const admin = await connectWhenReady(running, login, dataDir, report, signal);
      await ensureRoleAndDatabase(admin, secrets.postgresService).finally(() => admin.end());
      if (socketDir !== '' && (await canConnect({ ...login, host: socketDir }))) socket = `&host=${encodeURIComponent(socketDir)}`;
    } catch (error) {
      await running.stop();
      await endClusterProcesses(dir, report.say);
      // Someone else took the port between our looking and PostgreSQL's listening.
      if (attempt < 5 && !options.port && running.readTail().some((line) => line.includes('Address already in use'))) continue;
      throw error;
    }
    return {
      ...running,
      port,
      // sslmode: a PGSSLMODE in the user's shell is about other servers.
      url: `postgres://${role}:${secrets.postgresService}@127.0.0.1:${port}/${database}?sslmode=disable${socket}`,
      async stop() {
        await running.stop();
        await endClusterProcesses(dir, report.say);
      },
      // PostgreSQL's backends have process groups of their own and survive a SIGKILL of the server for a moment.
      kill: () => sendSignal(running.pid, 'SIGQUIT'),
    };
  }
}

async function connectWhenReady(
  running: RunningProcess,
  login: Login,
  dataDir: string,
  report: Report,
  signal?: AbortSignal,
): Promise<pg.Client> {
  const ended = running.ended.then((how) => new Error(`PostgreSQL ended while starting (${how}):\n${running.readTail().join('\n')}`));
  const beganMs = Date.now();
  for (;;) {
    const result = await Promise.race([ended, tryConnect(login)]);
    if (result instanceof pg.Client) return result;
    if (await isDone(ended)) throw await ended;
    signal?.throwIfAborted();
    const code = (result as { code?: string }).code ?? '';
    if (code === '28P01') {
      throw new Error(
        `PostgreSQL does not accept the password in ${dataDir}/secrets.json: that file and the database do not belong together. Restore it, or delete the data dir for a fresh start.`,
      );
    }
    const seconds = Math.round((Date.now() - beganMs) / 1000);
    // After a crash it first replays its log, which takes as long as it takes.
    if (seconds >= 2) report.progress(`Waiting for PostgreSQL, ${seconds} s`);
    if (seconds > 600) throw new Error(`PostgreSQL does not answer: ${result.message}`);
    await delay(50);
  }
}

interface Login {
  /** An address, or the folder of the socket file. */
  host: string;
  port: number;
  password: string;
}

async function tryConnect(login: Login): Promise<pg.Client | Error> {
  const client = new pg.Client({
    ...login,
    user: 'postgres',
    database: 'postgres',
    ssl: false,
    connectionTimeoutMillis: 2000,
  });
  // It says so when the server dies later; the supervisor sees that by itself.
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    await client.end().catch(() => {});
    return error as Error;
  }
}

/** Root without all of its powers may not enter the folder of PostgreSQL's user. */
async function canConnect(login: Login): Promise<boolean> {
  const client = await tryConnect(login);
  if (!(client instanceof pg.Client)) return false;
  await client.end();
  return true;
}

/** The kernel's limit for the path of a socket, less the name of the file. */
const mostSocketPath = 107 - '/.s.PGSQL.65535.lock'.length;

const canHoldSocket = (dir: string): boolean => Buffer.byteLength(dir) <= mostSocketPath && !dir.includes(',');

async function isDone(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending');
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}

/** At each start and in steps that can be repeated, so that it does not matter where an earlier one was cut off. */
async function ensureRoleAndDatabase(admin: pg.Client, password: string): Promise<void> {
  const roles = await admin.query('select 1 from pg_roles where rolname = $1', [role]);
  const verb = roles.rowCount ? 'alter' : 'create';
  await admin.query(`${verb} role ${role} login createdb password ${admin.escapeLiteral(password)}`);
  const databases = await admin.query('select 1 from pg_database where datname = $1', [database]);
  if (!databases.rowCount) await admin.query(`create database ${database} owner ${role}`);
}
