import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { TroubleProxy } from '../../blobs/proxy.ts';
import { bucket, s3Servers } from '../../blobs/s3Servers.ts';
import { type InstallationOptions, startInstallation } from './installation.ts';
import { type Report, runRounds } from './rounds.ts';
import { isAway, kills, type Strike } from './strikes.ts';

/** A way to harm the service. Null: it cannot be done on this machine. */
export type Scenario = (rounds: number, say: (line: string) => void) => Promise<Report | null>;

const strikeAt = async (options: InstallationOptions, strikes: Strike[], say: (line: string) => void): Promise<Report> => {
  const installation = await startInstallation(options);
  try {
    return await runRounds(installation, strikes, say);
  } finally {
    await installation.close();
  }
};

const makeFolder = (name: string) => mkdtemp(join(tmpdir(), `svc-faults-${name}-`));

export const scenarios: Record<string, Scenario> = {
  kills: (rounds, say) =>
    strikeAt(
      {},
      Array.from({ length: rounds }, (_, round) => kills(round)),
      say,
    ),
  outages: (_, say) => strikeAt({}, [isAway('postgres', 60), isAway('temporal', 60)], say),

  /** The storage of blobs is slow, refuses, never answers or breaks off. */
  async storage(_, say) {
    const folder = await makeFolder('s3');
    const kind = s3Servers.at(-1) as (typeof s3Servers)[number];
    const server = await kind.start(folder);
    const proxy = new TroubleProxy(server.port);
    await proxy.start();
    const env = {
      BLOB_URL: `s3://${bucket}/installation`,
      S3_ENDPOINT: `http://127.0.0.1:${proxy.port}`,
      S3_ACCESS_KEY_ID: server.accessKeyId,
      S3_SECRET_ACCESS_KEY: server.secretAccessKey,
    };
    const troubles = (['slow', 'refuse', 'stall', 'break'] as const).map(
      (trouble): Strike =>
        async () => {
          proxy.make(trouble);
          await delay(20_000);
          proxy.make('none');
          return `${kind.name}: ${trouble} for 20 seconds`;
        },
    );
    try {
      return await strikeAt({ env }, troubles, say);
    } finally {
      await proxy.stop();
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },

  /** The disk is full for a while. Needs a disk of its own, which `npm run faults` makes if it may. */
  async disk(_, say) {
    if (!process.env.SVC_FAULTS_OWN_MOUNTS) return null;
    const folder = await makeFolder('disk');
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1200m,mode=755', 'tmpfs', folder]);
    const full: Strike = async () => {
      const filler = join(folder, 'filler');
      await fillDisk(filler);
      await delay(20_000);
      await rm(filler);
      return 'the disk full for 20 seconds';
    };
    return await strikeAt({ dataDir: join(folder, 'data') }, [full, full, full], say);
  },

  /** The clock goes forward and back, for all but Temporal. */
  async clock(_, say) {
    const library = findFakeTime();
    if (!library) return null;
    const folder = await makeFolder('clock');
    const file = join(folder, 'offset');
    const set = (offset: string) => writeFileSync(file, offset);
    set('+0');
    const jump =
      (offset: string): Strike =>
      async () => {
        set(offset);
        await delay(5_000);
        return `the clock is at ${offset} seconds`;
      };
    const env = { LD_PRELOAD: library, FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1' };
    try {
      return await strikeAt({ env }, ['+3600', '+0', '-3600', '+0', '+10800', '-600'].map(jump), say);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function fillDisk(path: string): Promise<void> {
  const file = await open(path, 'w');
  // Smaller and smaller pieces, until not a byte is left.
  for (let size = 1 << 24; size > 0; size >>= 4) {
    const piece = Buffer.alloc(size, 1);
    try {
      for (;;) await file.appendFile(piece);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
  await file.close();
}

/** libfaketime of the distribution (`apt-get install libfaketime`), or the one that SVC_FAULTS_FAKETIME names. */
function findFakeTime(): string | null {
  const named = process.env.SVC_FAULTS_FAKETIME;
  if (named) return named;
  for (const folder of ['/usr/lib', ...listFolders('/usr/lib')]) {
    const path = join(folder, 'faketime/libfaketime.so.1');
    if (existsSync(path)) return path;
  }
  return null;
}

const listFolders = (folder: string) => readdirSync(folder).map((name) => join(folder, name));
