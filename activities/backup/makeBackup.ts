import { openSnapshot, type Snapshot } from '../../store/backup/snapshot.ts';
import { BlobError, type BlobStore } from '../../store/blobs/blobStore.ts';
import { isAnchor } from '../../store/blobs/keys.ts';
import { copyFile, forEach, groupByWorkbook, isWhole, listSizes, putLines, putPacked, readLines } from './files.ts';
import { backupPrefix, checkValueOf, type Manifest, nameBackup, putManifest } from './manifest.ts';

/** An installation, and a place for its backups. */
export interface BackupParts {
  databaseUrl: string;
  blobs: BlobStore;
  secret: string;
  place: BlobStore;
  say(line: string): void;
  progress(line: string): void;
}

const workbooksAtATime = 500;

/**
 * Makes a backup while the service runs. The rows are those of one moment. The files that they name are copied afterwards; they
 * never change, and stay for at least a day after nothing names them. Should one be gone all the same, because a workbook was
 * purged meanwhile, the rows are taken anew.
 */
export async function makeBackup(parts: BackupParts): Promise<Manifest> {
  const name = nameBackup(new Date());
  for (let lost = new Set<string>(); ; ) {
    const { manifest, missing } = await takeBackup(parts, name);
    const isNew = missing.some((key) => !lost.has(key));
    if (!isNew) return putManifest(parts.place, { ...manifest, lost: missing });
    parts.say(`${missing.length} files are gone; looking whether they are still needed`);
    lost = new Set(missing);
  }
}

async function takeBackup(parts: BackupParts, name: string): Promise<{ manifest: Omit<Manifest, 'format' | 'lost'>; missing: string[] }> {
  const { place, progress } = parts;
  const prefix = backupPrefix(name);
  // Before the rows: an anchor must not be further than the chain of entries that it belongs to.
  const anchors = await copyAnchors(parts);
  const snapshot = await openSnapshot(parts.databaseUrl);
  let manifest: Omit<Manifest, 'format' | 'lost'>;
  try {
    const tables: Manifest['tables'] = [];
    for (const table of snapshot.tables) {
      progress(`Copying the rows of ${table.name}`);
      const { rows, count } = snapshot.readRows(table);
      const key = await putPacked(place, prefix, rows, 'copy');
      tables.push({ ...table, rows: count(), key });
    }
    let files = 0;
    const keys = async function* () {
      for await (const key of listFiles(snapshot)) {
        files += 1;
        yield key;
      }
      for (const key of anchors) yield key;
    };
    const key = await putLines(place, prefix, keys());
    manifest = {
      name,
      takenAt: snapshot.takenAt.toISOString(),
      migrations: snapshot.migrations,
      secretCheck: checkValueOf(parts.secret),
      tables,
      sequences: snapshot.sequences,
      files: { key, count: files + anchors.length },
    };
  } finally {
    await snapshot.close();
  }
  return { manifest, missing: await copyFiles(parts, manifest.files.key) };
}

/** The newest anchor of each audit chain. */
async function copyAnchors({ blobs, place, progress }: BackupParts): Promise<string[]> {
  progress('Copying the anchors of the audit chains');
  const copied: string[] = [];
  const anchors = async function* () {
    for await (const { key } of blobs.list('')) if (isAnchor(key)) yield key;
  };
  await forEach(anchors(), async (key) => {
    try {
      if (!(await isWhole(place, key))) await copyFile(blobs, place, key);
      copied.push(key);
    } catch (error) {
      // It was moved forward. A chain without an anchor is as good as one that was not anchored yet.
      if (!(error instanceof BlobError) || error.kind !== 'missing') throw error;
    }
  });
  return copied;
}

/** Each workbook's files one after the other, as the rows of the snapshot name them. */
async function* listFiles(snapshot: Snapshot): AsyncGenerator<string> {
  for (let after = ''; ; ) {
    const workbooks = await snapshot.listWorkbooks(after, workbooksAtATime);
    for (const workbook of workbooks) yield* (await snapshot.listBlobs(workbook)).sort();
    const last = workbooks.at(-1);
    if (!last) return;
    after = last.id;
  }
}

/**
 * Copies what the place does not have yet, or not in its size; returns the keys that cannot be copied. That the content is right is
 * found out by reading all of it: `checkBackup`.
 */
async function copyFiles({ blobs, place, progress }: BackupParts, listKey: string): Promise<string[]> {
  const missing: string[] = [];
  let done = 0;
  for await (const group of groupByWorkbook(readLines(place, listKey))) {
    const [sizes, there] = [await listSizes(blobs, group.prefix), await listSizes(place, group.prefix)];
    await forEach(group.keys, async (key) => {
      try {
        const size = there.get(key);
        if (size === undefined || size !== (sizes.get(key) ?? size)) await copyFile(blobs, place, key);
      } catch (error) {
        if (!(error instanceof BlobError)) throw error;
        // It may be the installation's own file that is damaged.
        if (!(await isWhole(place, key))) missing.push(key);
      }
      done += 1;
      progress(`Copying files: ${done}`);
    });
  }
  return missing.sort();
}
