import { spawn, spawnSync } from 'node:child_process';
import { chmod, copyFile, cp, mkdir, readdir, symlink } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { findProgram } from '../../findProgram.ts';
import type { ChildFolders, FileOwner } from './folders.ts';
import type { ChildProgram, ProgramLimits } from './program.ts';

/** The third of the sandbox's walls: how a process that reads what strangers wrote is isolated from the machine. */
export interface Isolation {
  /** `none`: it has limits, but sees what we see. */
  kind: 'bubblewrap' | 'user' | 'none';
  /** Paths of the program's copies that processes are started from. */
  copies: string[];
  /** The user for the next process. Null: our own. */
  nextOwner(): Promise<FileOwner | null>;
  /** The folders as the process sees them. */
  seen(folders: ChildFolders): { inDir: string; outDir: string };
  /** The socket is file descriptor 3. */
  spawn(folders: ChildFolders): ReturnType<typeof spawn>;
  /** Ends processes that a killed process may have left behind. */
  sweep(folders: ChildFolders): void;
}

/** Size limit of a file that a process writes. */
const fileLimitBlocks = 4_194_304;

/** Shell code that sets limits for what it starts. When memory is short, the kernel kills such processes first. */
const setLimits = (memoryBytes: number) => `{ echo 800 > /proc/self/oom_score_adj; } 2>/dev/null
ulimit -c 0; ulimit -f ${fileLimitBlocks}; ulimit -d ${Math.ceil(memoryBytes / 1024)} || exit 71
exec "$@"`;

const nodeFlags = ({ heapMb, youngMb, firstOldMb, threads, collects }: ProgramLimits) => [
  `--v8-pool-size=${threads}`,
  `--max-old-space-size=${heapMb}`,
  ...(youngMb ? [`--max-semi-space-size=${youngMb}`] : []),
  ...(firstOldMb ? [`--initial-old-space-size=${firstOldMb}`] : []),
  ...(collects ? ['--expose-gc'] : []),
  '--disable-proto=delete',
  '--disallow-code-generation-from-strings',
];

/** The whole environment; our own variables are not passed on. Dates without a zone are the same on every machine. */
const listVariables = ({ threads, malloc = {} }: ProgramLimits) => {
  const tunables = Object.entries(malloc).map(([name, value]) => `glibc.malloc.${name}=${value}`);
  return {
    UV_THREADPOOL_SIZE: String(threads),
    MALLOC_ARENA_MAX: '2',
    ...(tunables.length > 0 ? { GLIBC_TUNABLES: tunables.join(':') } : {}),
    TZ: 'UTC',
  };
};

function run(limits: ProgramLimits, command: string[], owner: FileOwner | null) {
  return spawnLimited({ memoryBytes: limits.memoryBytes, env: listVariables(limits), command, owner });
}

interface LimitedCommand {
  memoryBytes: number;
  /** The whole environment. */
  env: Record<string, string>;
  command: string[];
  owner?: FileOwner | null;
  /** Open files, as file descriptors 4 and on. */
  files?: number[];
}

export function spawnLimited({ memoryBytes, env, command, owner, files = [] }: LimitedCommand): ReturnType<typeof spawn> {
  return spawn('/bin/sh', ['-c', setLimits(memoryBytes), 'sh', ...command], {
    cwd: '/',
    env,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', ...files],
    ...owner,
  });
}

export const findBubblewrap = (searchPath: string[]): string | null => findProgram('bwrap', searchPath);

/** The options of bubblewrap by which a process has nothing of the machine: no files, no network, no other processes. */
export const shutIn = (bwrap: string): string[] => [
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
];

/** Lets a process read a file or folder. */
export const bind = (from: string, to = from): string[] => ['--ro-bind', from, to];

/** The process sees only the listed files, can write to one folder, and has no network and no view of other processes. */
export function bubblewrapIsolation(bwrap: string, program: ChildProgram): Isolation {
  const fixed = [
    ...shutIn(bwrap),
    ...program.libraries.flatMap((path) => bind(path)),
    ...program.extraDirs.flatMap((dir) => ['--ro-bind-try', dir, dir]),
    ...bind(program.nativeDir, '/app/native'),
    ...bind(program.node, '/app/node'),
    ...bind(program.bundle, '/app/child.mjs'),
    // The loader's cache is not visible inside.
    '--setenv',
    'LD_LIBRARY_PATH',
    [...new Set(program.libraries.map(dirname))].join(delimiter),
  ];
  return {
    kind: 'bubblewrap',
    copies: [program.bundle],
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
        ...nodeFlags(program.limits),
        '/app/child.mjs',
        '/in',
        '/out',
      ];
      return run(program.limits, command, null);
    },
    // Nothing to do: bubblewrap ends everything inside.
    sweep() {},
  };
}

function hasOption(bwrap: string, option: string): boolean {
  return spawnSync(bwrap, ['--help'], { encoding: 'utf8' }).stdout.includes(option);
}

/** User ids that no distribution uses; each process has its own, so that processes cannot affect each other. */
const firstUserId = 60_706;
const userIds = 478;
let usersGiven = 0;

/** Claims a user id by an abstract socket, which the kernel removes when we end, so that other services do not use it. */
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

/** Without bubblewrap, as root: runs as another user, who can write to one folder only. That user must be able to enter `appDir`. */
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
    spawn: ({ inDir, outDir, owner }) =>
      run(program.limits, [program.node, ...nodeFlags(program.limits), join(appDir, 'child.mjs'), inDir, outDir], owner),
    sweep({ owner }) {
      // As that user, `kill -1` reaches exactly the user's own processes.
      if (!owner) return;
      const sweeping = spawn('/bin/sh', ['-c', 'kill -9 -1'], { cwd: '/', env: {}, stdio: 'ignore', ...owner });
      sweeping
        .on('error', () => {})
        .on('close', () => {
          claims.get(owner.uid)?.close();
          claims.delete(owner.uid);
        });
    },
  };
}

/** A process with limits only, for programs that may run where neither of the others works. */
export async function noIsolation(program: ChildProgram, appDir: string): Promise<Isolation> {
  const bundle = join(appDir, 'child.mjs');
  await mkdir(appDir, { recursive: true });
  await symlink(program.nativeDir, join(appDir, 'native'));
  await copyFile(program.bundle, bundle);
  return {
    kind: 'none',
    copies: [bundle],
    nextOwner: async () => null,
    seen: ({ inDir, outDir }) => ({ inDir, outDir }),
    spawn: ({ inDir, outDir }) => run(program.limits, [program.node, ...nodeFlags(program.limits), bundle, inDir, outDir], null),
    sweep() {},
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
