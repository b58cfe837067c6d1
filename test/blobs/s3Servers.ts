import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import S3rver from '@20minutes/s3rver';
import { findFreePort } from '../../scripts/embedded/ports.ts';
import { loadConfig } from '../../store/config.ts';
import { findProgram } from '../../store/findProgram.ts';

/**
 * S3 servers for the tests. `s3rver` is a package of npm and always there; it checks neither signatures of lists nor
 * checksums. Where `versitygw` is on the PATH or in the user's cache, everything runs against that as well: a real
 * gateway, which checks both. (`go install github.com/versity/versitygw/cmd/versitygw@v1.8.0` makes it.)
 */
export interface S3Server {
  port: number;
  accessKeyId: string;
  secretAccessKey: string;
  /** Changes the stored bytes behind the server's back. */
  corrupt(path: string): Promise<void>;
  stop(): Promise<void>;
}

export interface S3ServerKind {
  name: string;
  /** Whether it refuses an upload whose checksum is wrong. */
  checksChecksums: boolean;
  start(folder: string): Promise<S3Server>;
}

export const bucket = 'blobs';

const { searchPath, cacheDir } = loadConfig({ PATH: process.env.PATH, HOME: process.env.HOME }).machine;
const versitygw = findProgram('versitygw', [...searchPath, cacheDir]);

export const s3Servers: S3ServerKind[] = [
  { name: 's3rver', checksChecksums: false, start: startS3rver },
  ...(versitygw ? [{ name: 'versitygw', checksChecksums: true, start: (folder: string) => startVersity(versitygw, folder) }] : []),
];

async function startS3rver(folder: string): Promise<S3Server> {
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: folder,
    // It misjudges the signature of requests to the bucket itself.
    allowMismatchedSignatures: true,
    configureBuckets: [{ name: bucket }],
  });
  const { port } = await server.run();
  const corrupt = (path: string) => flipByte(join(folder, bucket, `${path}._S3rver_object`));
  return { port, accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER', corrupt, stop: () => server.close() };
}

async function startVersity(program: string, folder: string): Promise<S3Server> {
  await mkdir(join(folder, bucket), { recursive: true });
  const port = await findFreePort();
  const [accessKeyId, secretAccessKey] = ['testaccess', 'testsecret'];
  const env = { ...process.env, ROOT_ACCESS_KEY: accessKeyId, ROOT_SECRET_KEY: secretAccessKey };
  const child = spawn(program, ['--port', `127.0.0.1:${port}`, '--quiet', 'posix', folder], { env, stdio: 'ignore' });
  await waitForPort(port, child);
  const stop = async () => {
    child.kill('SIGKILL');
  };
  return { port, accessKeyId, secretAccessKey, corrupt: (path) => flipByte(join(folder, bucket, path)), stop };
}

async function flipByte(path: string): Promise<void> {
  const bytes = await readFile(path);
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 0xff;
  await writeFile(path, bytes);
}

async function waitForPort(port: number, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    const isUp = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
    if (isUp) return;
    await delay(100);
  }
  throw new Error('the server did not start');
}
