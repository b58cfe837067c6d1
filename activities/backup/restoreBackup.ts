import { finished } from 'node:stream/promises';
import { openLoad, readDatabaseState } from '../../store/backup/loadDatabase.ts';
import { BlobError, type BlobStore } from '../../store/blobs/blobStore.ts';
import { openDatabase } from '../../store/pg/database.ts';
import { listMigrations, migrateDatabase, migrateFirst } from '../../store/pg/migrate.ts';
import { copyFile, forEach, readLines, readPacked } from './files.ts';
import type { BackupParts } from './makeBackup.ts';
import { checkValueOf, type Manifest, readManifest } from './manifest.ts';

type Place = Pick<BackupParts, 'place' | 'progress'>;

/** Reads every byte of a backup. Fails with the first file that is missing or not what its name says. */
export async function checkBackup({ place, progress }: Place, name: string | null): Promise<Manifest> {
  try {
    const manifest = await readManifest(place, name);
    const lost = new Set(manifest.lost);
    let done = 0;
    const check = async (key: string) => {
      const content = await place.read(key);
      content.resume();
      await finished(content);
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
      if (!lost.has(key)) await check(key);
    });
    if (listed !== manifest.files.count) throw new Error(`The backup names ${manifest.files.count} files and lists ${listed}.`);
    return manifest;
  } catch (error) {
    if (!(error instanceof BlobError)) throw error;
    throw new Error(`The backup is damaged: ${error.message}. Nothing was restored.`, { cause: error });
  }
}

/** Restores a backup into an empty database and an empty blob store; the newest one when no name is given. */
export async function restoreBackup(parts: BackupParts, options: { name: string | null; otherSecret: boolean }): Promise<Manifest> {
  const { databaseUrl, blobs, place, say, progress } = parts;
  const manifest = await readManifest(place, options.name);
  if (manifest.secretCheck !== checkValueOf(parts.secret) && !options.otherSecret) {
    throw new Error(
      'SVC_SECRET is not that of the installation that was backed up. With another one all sessions end, connections to drives are lost and every audit chain looks broken. Set the old one, or restore with --other-secret.',
    );
  }
  await requireEmpty(databaseUrl, blobs, manifest);
  say(`Checking the backup ${manifest.name}`);
  await checkBackup(parts, manifest.name);

  const lost = new Set(manifest.lost);
  say(`Restoring ${manifest.files.count} files`);
  let done = 0;
  await forEach(readLines(place, manifest.files.key), async (key) => {
    if (!lost.has(key)) await copyFile(place, blobs, key);
    done += 1;
    progress(`Restoring files: ${done}`);
  });
  say(`Restoring ${manifest.tables.length} tables`);
  const db = openDatabase(databaseUrl, { poolSize: 1, onError: () => {} });
  try {
    await migrateFirst(db, manifest.migrations.length);
    await loadTables(parts, manifest);
    await migrateDatabase(db);
  } finally {
    await db.close();
  }
  return manifest;
}

async function requireEmpty(databaseUrl: string, blobs: BlobStore, manifest: Manifest): Promise<void> {
  const known = listMigrations();
  if (manifest.migrations.some((hash, i) => known[i] !== hash))
    throw new Error('The backup was made by a newer release. Restore it with that release, or one that is newer still.');
  const { migrations, filledTable } = await readDatabaseState(databaseUrl);
  if (filledTable !== null) throw new Error(`The database is not empty: ${filledTable} has rows. Restore into a new one.`);
  if (migrations.length > 0 && migrations.length !== manifest.migrations.length)
    throw new Error('The database was migrated for another release than the one that was backed up. Restore into a new one.');
  for await (const { key } of blobs.list('')) {
    throw new Error(
      `The blob store is not empty: it has ${key}. Restore into a new one; if a restore broke off, remove what it left and begin again.`,
    );
  }
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
