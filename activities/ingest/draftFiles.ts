import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { DraftStore } from '../../store/blobs/blobStore.ts';
import { ParquetFile } from '../../store/parquet/parquetFile.ts';

/** The files of one piece of work: all are kept, or none. */
export class DraftFiles {
  private readonly open = new Map<ParquetFile, string>();
  private readonly keys: string[] = [];

  constructor(private readonly blobs: DraftStore) {}

  async create(): Promise<ParquetFile> {
    const draft = await this.blobs.draft();
    const file = await ParquetFile.create(draft);
    this.open.set(file, draft);
    return file;
  }

  async keep(file: ParquetFile, prefix: string): Promise<{ key: string; bytes: number }> {
    const draft = this.open.get(file);
    if (draft === undefined) throw new Error('a file of another set');
    // A random marker makes each file unique, so deleting it never affects another.
    await file.finish({ svc_file: randomUUID() });
    const { key, size } = await this.blobs.put(prefix, draft, 'parquet');
    this.open.delete(file);
    this.keys.push(key);
    return { key, bytes: size };
  }

  async dropAll(): Promise<void> {
    for (const [file, draft] of this.open) {
      await file.abandon();
      await rm(draft, { force: true });
    }
    this.open.clear();
    for (const key of this.keys.splice(0)) await this.blobs.remove(key);
  }
}
