import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BackupParts } from '../activities/backup/makeBackup.ts';
import type { BlobStore } from '../store/blobs/blobStore.ts';
import { openBlobs } from '../store/blobs/openBlobs.ts';
import { inheritEnv } from '../store/childEnv.ts';
import { type BlobConfig, type Config, ConfigError, loadConfig } from '../store/config.ts';
import { takeLock } from './embedded/lock.ts';
import { startPostgres } from './embedded/postgres.ts';
import { createProcessRegistry, stopLeftovers } from './embedded/processRegistry.ts';
import type { Report } from './embedded/report.ts';
import { readRuntime } from './embedded/runtime.ts';
import { keepServiceSecret, readServiceSecret } from './embedded/secrets.ts';

/** The words after the command: options begin with two dashes, and at most one is a place, which goes before BACKUP_URL. */
export function readArguments(
  words: string[],
  known: string[],
): { config: Config; options: Set<string>; value(option: string): string | null } {
  const options = new Map<string, string>();
  let place: string | undefined;
  for (const word of words) {
    const [name = '', ...rest] = word.split('=');
    if (known.includes(name)) options.set(name, rest.join('='));
    else if (word.startsWith('--')) throw new Error(`There is no option ${name}. There are: ${known.join(', ')}`);
    else place = word;
  }
  const config = loadConfig(inheritEnv(place === undefined ? {} : { BACKUP_URL: place }));
  return { config, options: new Set(options.keys()), value: (option) => options.get(option) || null };
}

/** Runs work with the installation that the configuration names; the embedded database is started for it when it is not running. */
export async function withBackupParts<T>(
  config: Config,
  report: Report,
  use: 'backup' | 'restore',
  work: (parts: BackupParts) => Promise<T>,
): Promise<T> {
  if (config.backups === null)
    throw new ConfigError([`Say where the backups are: BACKUP_URL, or npm run ${use} -- /folder, or npm run ${use} -- s3://bucket/prefix`]);
  // As `npm start` does it. Read before the embedded database is started, which makes one where there is none.
  const secret = config.secret ?? readServiceSecret(config.dataDir);
  if (secret === null) throw new ConfigError(['SVC_SECRET is not set. It must be that of the installation that is backed up.']);
  const caches = join(config.dataDir, 'backup-cache');
  const database = await findDatabase(config, report, use);
  const stores: BlobStore[] = [];
  // What lies in here for a while is of all customers.
  mkdirSync(caches, { recursive: true, mode: 0o700 });
  const open = async (blobs: BlobConfig, name: string) => {
    if (blobs.kind === 'file' && use === 'restore') mkdirSync(blobs.dir, { recursive: true, mode: 0o700 });
    const store = await openBlobs({ blobs, dataDir: join(caches, name) }, { cacheBytes: 1024 ** 3, isPrivate: name === 'place' });
    stores.push(store);
    return store;
  };
  try {
    const result = await work({
      databaseUrl: database.url,
      secret,
      blobs: await open(config.blobs, 'blobs'),
      place: await open(config.backups, 'place'),
      say: report.say,
      progress: report.progress,
    });
    // An embedded installation goes on without the variable.
    if (use === 'restore' && config.databaseUrl === null) keepServiceSecret(config.dataDir, secret);
    return result;
  } finally {
    for (const store of stores) await store.close();
    await rm(caches, { recursive: true, force: true });
    await database.stop();
  }
}

async function findDatabase(config: Config, report: Report, use: 'backup' | 'restore'): Promise<{ url: string; stop(): Promise<void> }> {
  const stop = async () => {};
  if (config.databaseUrl) return { url: config.databaseUrl, stop };
  const { dataDir } = config;
  const runtime = use === 'backup' ? readRuntime(dataDir) : null;
  if (runtime) return { url: runtime.databaseUrl, stop };
  const release = takeLock(dataDir);
  try {
    const recordPath = join(dataDir, 'processes.json');
    await stopLeftovers(recordPath, report.say);
    const registry = createProcessRegistry(recordPath);
    const reaper = await registry.startReaper();
    const postgres = await startPostgres({ dataDir, report, registry });
    return {
      url: postgres.url,
      async stop() {
        await postgres.stop();
        await reaper.stop();
        release();
      },
    };
  } catch (error) {
    release();
    throw error;
  }
}
