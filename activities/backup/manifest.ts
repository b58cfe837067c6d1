import { writeFile } from 'node:fs/promises';
import { json } from 'node:stream/consumers';
import type { SequenceState, TableShape } from '../../store/backup/snapshot.ts';
import type { BlobStore } from '../../store/blobs/blobStore.ts';
import { deriveKey, sha256 } from '../../store/secrets.ts';

/**
 * A place of backups is a blob store. Files lie in it under the keys that they have in the service, so backups share them. Each
 * backup adds a folder `backups/<name>` with the rows of its tables, the list of its files, and, last, this manifest. All of
 * them have the SHA-256 of their content in their names.
 */
export interface Manifest {
  format: typeof format;
  /** When it was begun, as text that sorts. */
  name: string;
  /** The moment whose state it holds. */
  takenAt: string;
  /** Hashes of the migrations that were applied, in order. */
  migrations: string[];
  /** Tells whether a secret is the one of the installation, and nothing else of it. */
  secretCheck: string;
  tables: (TableShape & { rows: number; key: string })[];
  sequences: SequenceState[];
  /** `key`: the list of all keys, one in a line. */
  files: { key: string; count: number };
  /** Files that the installation itself had lost. */
  lost: string[];
}

const format = 1;
const root = 'backups';
const extension = 'manifest.json';

export const backupPrefix = (name: string) => `${root}/${name}`;

export function nameBackup(at: Date): string {
  return at.toISOString().replace(/[:.]/g, '-');
}

export function checkValueOf(secret: string): string {
  return sha256(deriveKey(secret, 'backup check')).toString('hex');
}

/** The last thing that a backup writes: without it there is none. */
export async function putManifest(place: BlobStore, manifest: Omit<Manifest, 'format'>): Promise<Manifest> {
  const whole: Manifest = { format, ...manifest };
  const draft = await place.draft();
  await writeFile(draft, JSON.stringify(whole, null, 1));
  await place.put(backupPrefix(manifest.name), draft, extension);
  return whole;
}

/** Names of the backups that were finished, oldest first, and the keys of their manifests. */
export async function listBackups(place: BlobStore): Promise<Map<string, string>> {
  const found: [string, string][] = [];
  for await (const { key } of place.list(root)) if (key.endsWith(`.${extension}`)) found.push([key.split('/')[1] as string, key]);
  return new Map(found.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The newest one when no name is given. */
export async function readManifest(place: BlobStore, name: string | null): Promise<Manifest> {
  const backups = await listBackups(place);
  if (backups.size === 0) throw new Error('There is no finished backup in BACKUP_URL.');
  const key = name === null ? [...backups.values()].at(-1) : backups.get(name);
  if (key === undefined) throw new Error(`There is no backup ${name}. There are: ${[...backups.keys()].join(', ')}`);
  const manifest = (await json(await place.read(key))) as Manifest;
  if (manifest.format !== format)
    throw new Error(
      `The backup has the format ${manifest.format}, which this release cannot read. Restore it with the release that made it.`,
    );
  return manifest;
}
