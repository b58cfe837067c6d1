import { hasRows, openLoad, readDatabaseState } from '../../store/backup/loadDatabase.ts';
import { BlobError, type BlobStore } from '../../store/blobs/blobStore.ts';
import { openDatabase } from '../../store/pg/database.ts';
import { listMigrations, migrateDatabase, migrateFirst } from '../../store/pg/migrate.ts';
import { copyFile, forEach, groupByWorkbook, isWhole, listSizes, readLines, readPacked, readWhole } from './files.ts';
import type { BackupParts } from './makeBackup.ts';
import { checkValueOf, type Manifest, readManifest } from './manifest.ts';

type Place = Pick<BackupParts, 'place' | 'say' | 'progress'>;

/**
 * Reads every byte of a backup. Fails with the first file that is missing or not what its name says; where the installation is
 * given, its files are copied anew instead.
 */
export async function checkBackup({ place, say, progress }: Place, name: string | null, mendFrom?: BlobStore): Promise<Manifest> {
  try {
    const manifest = await readManifest(place, name);
    const lost = new Set(manifest.lost);
    let done = 0;
    const check = async (key: string) => {
      await readWhole(place, key);
      done += 1;
      progress(`Checking files: ${done}`);
    };
    await forEach(
      manifest.tables.map(({ key }) => key),
      check,
    );
    let listed = 0;
    await forEach(readLines(place, manifest.files.key), async (key) => {
      listed += 1;
      if (lost.has(key)) return;
      if (mendFrom && !(await isWhole(place, key))) {
        await copyFile(mendFrom, place, key);
        say(`${key} was damaged in the place of backups, and was copied anew`);
      }
      await check(key);
    });
    if (listed !== manifest.files.count) throw new Error(`The backup names ${manifest.files.count} files and lists ${listed}.`);
    return manifest;
  } catch (error) {
    if (!(error instanceof BlobError)) throw error;
    throw new Error(`The backup is damaged: ${error.message}. Nothing was restored.`, { cause: error });
  }
}

export interface RestoreOptions {
  /** Null: the newest one. */
  name: string | null;
  otherSecret: boolean;
  /** Whether to go on with a restore of the same backup that broke off. */
  goOn: boolean;
}

/** Restores a backup into an empty database and an empty blob store, or into what an earlier try has left of both. */
export async function restoreBackup(parts: BackupParts, options: RestoreOptions): Promise<Manifest> {
  const { databaseUrl, place, say } = parts;
  const manifest = await readManifest(place, options.name);
  if (manifest.secretCheck !== checkValueOf(parts.secret) && !options.otherSecret) {
    throw new Error(
      'SVC_SECRET is not that of the installation that was backed up. With another one all sessions end, connections to drives are lost and every audit chain looks broken. Set the old one, or restore with --other-secret.',
    );
  }
  const isLoaded = await requireRoom(databaseUrl, manifest, options.goOn);
  await requireOwnFiles(parts, manifest, options.goOn);
  say(`Checking the backup ${manifest.name}`);
  await checkBackup(parts, manifest.name);
  await restoreFiles(parts, manifest, options.goOn);
  const db = openDatabase(databaseUrl, { poolSize: 1, onError: () => {} });
  try {
    if (isLoaded) say('The tables were restored before');
    else {
      say(`Restoring ${manifest.tables.length} tables`);
      await migrateFirst(db, manifest.migrations.length);
      await loadTables(parts, manifest);
    }
    await migrateDatabase(db);
  } finally {
    await db.close();
  }
  return manifest;
}

/** Returns whether the database has the rows of the backup already: they come in one transaction, and newer migrations follow. */
async function requireRoom(databaseUrl: string, manifest: Manifest, goOn: boolean): Promise<boolean> {
  const known = listMigrations();
  if (manifest.migrations.some((hash, i) => known[i] !== hash))
    throw new Error('The backup was made by a newer release. Restore it with that release, or one that is newer still.');
  const { migrations, filledTable } = await readDatabaseState(databaseUrl);
  const isOfBackup = migrations.length === manifest.migrations.length;
  if (filledTable !== null) {
    if (goOn && isOfBackup && (await hasRows(databaseUrl, manifest.tables))) return true;
    throw new Error(`The database is not empty: ${filledTable} has rows. Restore into a new one.`);
  }
  if (migrations.length > 0 && !isOfBackup)
    throw new Error('The database was migrated for another release than the one that was backed up. Restore into a new one.');
  return false;
}

/** Files of another installation, or of another backup, are not mixed with those of this one. */
async function requireOwnFiles({ blobs, place }: BackupParts, manifest: Manifest, goOn: boolean): Promise<void> {
  let found = 0;
  for await (const { key } of blobs.list('')) {
    found += 1;
    if (!goOn)
      throw new Error(
        `The blob store is not empty: it has ${key}. Restore into a new one; if a restore of this backup broke off here, go on with --continue.`,
      );
  }
  if (found === 0) return;
  for await (const { prefix, keys } of groupByWorkbook(readLines(place, manifest.files.key))) {
    const there = await listSizes(blobs, prefix);
    found -= keys.filter((key) => there.has(key)).length;
  }
  if (found > 0)
    throw new Error(
      `The blob store has ${found} files that are not in the backup ${manifest.name}. Restore into a new one, without --continue.`,
    );
}

/** Files that an earlier try has restored whole are left as they are. */
async function restoreFiles({ blobs, place, say, progress }: BackupParts, manifest: Manifest, goOn: boolean): Promise<void> {
  const lost = new Set(manifest.lost);
  say(`Restoring ${manifest.files.count} files`);
  let done = 0;
  await forEach(readLines(place, manifest.files.key), async (key) => {
    const isDone = lost.has(key) || (goOn && (await isWhole(blobs, key)));
    if (!isDone) await copyFile(place, blobs, key);
    done += 1;
    progress(`Restoring files: ${done}`);
  });
}

async function loadTables({ databaseUrl, place, progress }: BackupParts, manifest: Manifest): Promise<void> {
  const load = await openLoad(databaseUrl);
  try {
    for (const { key, rows, ...table } of manifest.tables) {
      progress(`Restoring the rows of ${table.name}`);
      const loaded = await load.loadRows(table, await readPacked(place, key));
      if (loaded !== rows) throw new Error(`${table.name} has ${rows} rows in the backup and ${loaded} restored. Nothing was restored.`);
    }
    progress('Checking what the rows refer to');
    for (const sequence of manifest.sequences) await load.setSequence(sequence);
    await load.commit();
  } finally {
    await load.close();
  }
}
