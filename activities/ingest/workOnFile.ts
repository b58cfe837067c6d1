import { rm } from 'node:fs/promises';
import type { Layer } from '../../core/table/table.ts';
import { limitConcurrency } from '../../store/blobs/limitConcurrency.ts';
import type { FileProcess, Progress } from '../../store/fileProcesses/fileProcess.ts';
import type { UseLimits } from '../../store/fileProcesses/openFileProcesses.ts';
import { unpackParquet } from '../../store/records/parquetRecords.ts';
import { recordLimits } from '../../store/records/recordFile.ts';
import type { Services } from '../../store/services.ts';
import type { FileInput, Step, Steps } from './fileProgram/requests.ts';
import { type SourceFile, withSourceFile } from './readSourceFile.ts';

/** Files that are put into the blob store at a time. */
const keptAtOnce = 32;

/** The files of a table, by the names that the process gave them, or by their keys. */
interface TableFiles {
  layers: Layer[];
  provenanceKey?: string | null;
  kept?: { key: string } | null;
}

const listNames = ({ layers, provenanceKey, kept }: TableFiles): string[] => [
  ...layers.flatMap((layer) => (layer.kind === 'log' ? [] : [layer.key])),
  ...(provenanceKey ? [provenanceKey] : []),
  ...(kept ? [kept.key] : []),
];

type ReportProgress = (progress: Progress) => void;

/** A file while a process works on it. */
export class OpenFile {
  private readonly kept: string[] = [];

  constructor(
    private readonly blobs: Services['blobs'],
    private readonly process: FileProcess,
    readonly input: FileInput,
  ) {}

  async ask<Op extends Step>(op: Op, request: Steps[Op]['request'], onProgress?: ReportProgress): Promise<Steps[Op]['reply']> {
    return (await this.process.ask({ ...request, op }, onProgress)) as Steps[Op]['reply'];
  }

  /** Lets the process read one more file; returns the path as the process sees it. */
  share(path: string): Promise<string> {
    return this.process.share(path);
  }

  /** Moves a file that the process wrote to a draft, which the caller removes. */
  async take(name: string): Promise<string> {
    const draft = await this.blobs.draft();
    await this.process.take(name, draft);
    return draft;
  }

  /** Puts a Parquet file that the process wrote into the blob store. */
  async keep(prefix: string, name: string): Promise<{ key: string; bytes: number }> {
    const { key, size } = await this.blobs.put(prefix, await this.take(name), 'parquet');
    this.kept.push(key);
    return { key, bytes: size };
  }

  /** The same for all files of several tables, each below its own prefix. Some are put at a time. */
  async keepFiles<T extends TableFiles>(tables: T[], prefixOf: (table: T, index: number) => string): Promise<T[]> {
    const runLimited = limitConcurrency(keptAtOnce);
    const keys = new Map<string, { key: string; bytes: number }>();
    const keeping = tables.flatMap((table, index) => {
      const prefix = prefixOf(table, index);
      return listNames(table).map((name) => runLimited(async () => keys.set(name, await this.keep(prefix, name))));
    });
    // All are waited for, so that `dropKept` finds every file.
    for (const each of await Promise.allSettled(keeping)) if (each.status === 'rejected') throw each.reason;
    const keyOf = (name: string) => keys.get(name)?.key ?? '';
    return tables.map((table) => ({
      ...table,
      layers: table.layers.map((layer) => (layer.kind === 'log' ? layer : { ...layer, ...keys.get(layer.key) })),
      ...(table.provenanceKey ? { provenanceKey: keyOf(table.provenanceKey) } : {}),
      ...(table.kept ? { kept: { ...table.kept, key: keyOf(table.kept.key) } } : {}),
    }));
  }

  /** What cannot be removed now is collected later. */
  async dropKept(): Promise<void> {
    for (const key of this.kept.splice(0)) await this.blobs.remove(key).catch(() => {});
  }
}

export interface WorkLimits extends UseLimits {
  /** Only the first records are needed. */
  firstRows?: number;
}

/** Lets a process of its own work on a file of strangers, when it is the user's turn. If `work` fails, no file that it kept remains. */
export async function workOnFile<T>(
  services: Services,
  userId: string,
  file: SourceFile,
  limits: WorkLimits,
  work: (file: OpenFile) => Promise<T>,
): Promise<T> {
  const { format, filename } = file;
  return withReadable(services, userId, file, limits, (readable) =>
    workOnSentFile(services, userId, { ...readable, format, filename }, limits, work),
  );
}

/** The same for a file that is not stored, by its path. */
export async function workOnSentFile<T>(
  services: Services,
  userId: string,
  sent: FileInput,
  limits: WorkLimits,
  work: (file: OpenFile) => Promise<T>,
): Promise<T> {
  const processes = await services.fileProcesses();
  return processes.use(
    userId,
    async (process) => {
      const open = new OpenFile(services.blobs, process, { ...sent, path: await process.share(sent.path) });
      try {
        return await work(open);
      } catch (error) {
        await open.dropKept();
        throw error;
      }
    },
    limits,
  );
}

type Readable = Pick<FileInput, 'path' | 'lines'>;

/** Parquet is read by a query process, which turns it into lines of JSON. */
async function withReadable<T>(
  services: Services,
  userId: string,
  file: SourceFile,
  { signal, firstRows }: WorkLimits,
  work: (readable: Readable) => Promise<T>,
): Promise<T> {
  return withSourceFile(services, file, async (path) => {
    if (file.format !== 'parquet') return work({ path });
    const draft = await services.blobs.draft();
    const sandbox = await services.sandbox();
    try {
      const lines = await unpackParquet(path, { sandbox, userId, draft, limits: recordLimits, signal, firstRows });
      return await work({ path: draft, lines: { ...lines, rows: Math.min(lines.rows, firstRows ?? lines.rows) } });
    } finally {
      await rm(draft, { force: true });
    }
  });
}
