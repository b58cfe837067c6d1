import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { chmod, copyFile, cp, readdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import type { ChildFolders, FileOwner } from './folders.ts';
import type { ChildProgram } from './program.ts';

/** The third wall: how a query process is shut in. */
export interface Isolation {
  kind: 'bubblewrap' | 'user';
  /** Copies of programs that it starts processes from. */
  copies: string[];
  /** Who the next process runs as; null when it reads files as we do. */
  nextOwner(): Promise<FileOwner | null>;
  /** The folders as the process sees them. */
  seen(folders: ChildFolders): { inDir: string; outDir: string };
  /** Its socket is the fourth of its standard streams. */
  spawn(folders: ChildFolders): ReturnType<typeof spawn>;
  /** Ends what a killed process may have left behind. */
  sweep(folders: ChildFolders): void;
}

/** Of the operating system, for everything the process allocates; DuckDB's own limit lies below it. */
const dataLimitBytes = 1_073_741_824;
/** Of one file that it writes. */
const fileLimitBlocks = 4_194_304;

/** Busy memory is taken from query processes first; limits are inherited by what is run then. */
const limits = `{ echo 800 > /proc/self/oom_score_adj; } 2>/dev/null
ulimit -c 0; ulimit -f ${fileLimitBlocks}; ulimit -d ${dataLimitBytes / 1024} || exit 71
exec "$@"`;

/** Compiling and collecting in many threads would cost memory that the query needs. */
const nodeFlags = ['--v8-pool-size=1', '--max-old-space-size=256', '--disable-proto=delete', '--disallow-code-generation-from-strings'];

/** The whole environment: nothing of ours is passed on. */
const env = { UV_THREADPOOL_SIZE: '1', MALLOC_ARENA_MAX: '2' };

function run(command: string[], owner: FileOwner | null) {
  return spawn('/bin/sh', ['-c', limits, 'sh', ...command], { cwd: '/', env, stdio: ['ignore', 'ignore', 'pipe', 'pipe'], ...owner });
}

export function findProgram(name: string, searchPath: string[]): string | null {
  const paths = searchPath.map((dir) => join(dir, name));
  return paths.find((path) => isExecutable(path)) ?? null;
}

export const findBubblewrap = (searchPath: string[]): string | null => findProgram('bwrap', searchPath);

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Nothing of the machine but what is listed, nothing writable but one folder, no network, nobody else's processes. */
export function bubblewrapIsolation(bwrap: string, program: ChildProgram): Isolation {
  const bind = (from: string, to = from) => ['--ro-bind', from, to];
  const fixed = [
    '--unshare-user',
    '--unshare-pid',
    '--unshare-net',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup-try',
    '--die-with-parent',
    '--new-session',
    '--cap-drop',
    'ALL',
    '--uid',
    '65534',
    '--gid',
    '65534',
    '--hostname',
    'query',
    ...(hasOption(bwrap, '--disable-userns') ? ['--disable-userns'] : []),
    ...program.libraries.flatMap((path) => bind(path)),
    ...program.extraDirs.flatMap((dir) => ['--ro-bind-try', dir, dir]),
    ...bind(program.nativeDir, '/app/native'),
    ...bind(program.node, '/app/node'),
    ...bind(program.bundle, '/app/child.mjs'),
    // There is no loader's cache inside.
    '--setenv',
    'LD_LIBRARY_PATH',
    [...new Set(program.libraries.map(dirname))].join(delimiter),
  ];
  return {
    kind: 'bubblewrap',
    copies: [],
    nextOwner: async () => null,
    seen: () => ({ inDir: '/in', outDir: '/out' }),
    spawn: ({ inDir, outDir }) => {
      const command = [
        bwrap,
        ...fixed,
        ...bind(inDir, '/in'),
        '--bind',
        outDir,
        '/out',
        '--remount-ro',
        '/',
        '--chdir',
        '/',
        '/app/node',
        ...nodeFlags,
        '/app/child.mjs',
        '/in',
        '/out',
      ];
      return run(command, null);
    },
    // Everything inside has ended with it.
    sweep() {},
  };
}

function hasOption(bwrap: string, option: string): boolean {
  return spawnSync(bwrap, ['--help'], { encoding: 'utf8' }).stdout.includes(option);
}

/** Ids that no distribution gives to anybody; each process has its own, so that they cannot touch each other. */
const firstUserId = 60_706;
const userIds = 478;
let usersGiven = 0;

/** No other service on this machine uses the id as long as we hold a name for it, which the kernel takes back when we are gone. */
async function claimUser(): Promise<{ id: number; claim: Server }> {
  for (let tries = 0; tries < userIds; tries += 1) {
    usersGiven = (usersGiven + 1) % userIds;
    const id = firstUserId + usersGiven;
    const claim = createServer((socket) => socket.destroy()).unref();
    const isOurs = await new Promise<boolean>((resolve) => {
      claim.once('error', () => resolve(false)).listen(`\0workbook-query-user-${id}`, () => resolve(true));
    });
    if (isOurs) return { id, claim };
  }
  throw new Error('every user that a query process could run as is taken');
}

/** Without bubblewrap, as root: another user, who owns nothing and may write to one folder. `appDir` must be one he can enter. */
export async function userIsolation(program: ChildProgram, appDir: string): Promise<Isolation> {
  await cp(program.nativeDir, join(appDir, 'native'), { recursive: true, dereference: true });
  await copyFile(program.bundle, join(appDir, 'child.mjs'));
  await openToAll(appDir);
  const copies = await readdir(appDir, { recursive: true });
  const claims = new Map<number, Server>();
  return {
    kind: 'user',
    copies: copies.map((name) => join(appDir, name)),
    async nextOwner() {
      const { id, claim } = await claimUser();
      claims.set(id, claim);
      return { uid: id, gid: id };
    },
    seen: ({ inDir, outDir }) => ({ inDir, outDir }),
    spawn: ({ inDir, outDir, owner }) => run([program.node, ...nodeFlags, join(appDir, 'child.mjs'), inDir, outDir], owner),
    sweep({ owner }) {
      // As that user: everything he may send a signal to, which is what is his.
      if (!owner) return;
      const sweeping = spawn('/bin/sh', ['-c', 'kill -9 -1'], { cwd: '/', env, stdio: 'ignore', ...owner });
      sweeping
        .on('error', () => {})
        .on('close', () => {
          claims.get(owner.uid)?.close();
          claims.delete(owner.uid);
        });
    },
  };
}

async function openToAll(dir: string): Promise<void> {
  await chmod(dir, 0o755);
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) await openToAll(path);
    else await chmod(path, 0o644);
  }
}
