import { statSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { rowIdColumn, type TableAt } from '../../core/table/table.ts';
import { countLookup } from '../cacheCounts.ts';
import { fieldIds, layerColumn, makeTail, opColumn } from './buildRelation.ts';
import type { Engine } from './engine.ts';
import { createTailTable, quoteName, quoteText } from './relation.ts';
import { fieldIdList } from './writeFile.ts';

/** The log of a table up to a version as a local file, read by relations instead of loading the entries from the database. */
export interface TailFile {
  path: string;
  editVersion: number;
  versionUid: string;
}

/**
 * A cache of long logs as local files. Loading a long log costs more than most queries, so one that is read for the second
 * time is written to a file, and later versions load only newer entries. Any file may be lost at any time.
 */
export interface TailFiles {
  limits: TailLimits;
  /** The latest file for the same layers, at this version or an earlier one. */
  find(at: TableAt): TailFile | null;
  /** Called with a whole log that was just loaded; may write it to a file. Callers need not wait for it. */
  offer(at: TableAt, json: string): Promise<void>;
  close(): Promise<void>;
}

/** Measured in characters of the log's JSON. */
export interface TailLimits {
  /** Shorter logs are not written: loading them is as fast as opening a file. */
  worthwhile: number;
  /** If more than this was added since a file was written, a new file is written. */
  since: number;
}

const usualLimits: TailLimits = { worthwhile: 32_768, since: 32_768 };

/** Unused files are deleted after this time, far longer than any query that was given the file may run. */
const keptMs = 15 * 60_000;
const mostKnown = 10_000;

interface KeptFile extends TailFile {
  /** Size and time of change, to notice when it was overwritten. */
  mark: string;
}

interface Entry {
  file: KeptFile | null;
  making: boolean;
  usedMs: number;
}

export function openTailFiles(
  engine: Engine,
  makeFolder: () => Promise<string>,
  onTrouble: (error: unknown) => void,
  limits: TailLimits = usualLimits,
): TailFiles {
  const entries = new Map<string, Entry>();
  let made = 0;
  let folder: string | null = null;
  let last: Promise<void> = Promise.resolve();

  /** Files that `find` no longer returns; queries may still be reading them. */
  let retired: { path: string; usedMs: number }[] = [];

  const retire = ({ file, usedMs }: Entry): void => {
    if (file) retired.push({ path: file.path, usedMs });
  };

  const dropOld = async (): Promise<void> => {
    const old = Date.now() - keptMs;
    for (const [key, entry] of entries) {
      if (entry.making || (entry.usedMs >= old && entries.size <= mostKnown)) continue;
      entries.delete(key);
      retire(entry);
    }
    const due = retired.filter(({ usedMs }) => usedMs < old);
    retired = retired.filter(({ usedMs }) => usedMs >= old);
    for (const { path } of due) await rm(path, { force: true });
  };

  const make = async (at: TableAt, json: string, entry: Entry): Promise<void> => {
    folder ??= await makeFolder();
    // The folder may have been deleted by somebody.
    await mkdir(folder, { recursive: true, mode: 0o700 });
    made += 1;
    const path = join(folder, `${made}.parquet`);
    await writeTail(engine, at, json, path);
    retire(entry);
    entry.file = { path, editVersion: at.editVersion, versionUid: at.versionUid, mark: readMark(path) };
    await dropOld();
  };

  return {
    limits,
    find(at) {
      const entry = entries.get(keyOf(at));
      // The file was deleted or overwritten by somebody.
      if (entry?.file && readMark(entry.file.path) !== entry.file.mark) entry.file = null;
      const file = entry?.file && entry.file.editVersion <= at.editVersion ? entry.file : null;
      countLookup('log_files', file ? 'hit' : 'miss');
      if (entry && file) entry.usedMs = Date.now();
      return file;
    },
    async offer(at, json) {
      if (json.length <= limits.worthwhile) return;
      const key = keyOf(at);
      const entry = entries.get(key);
      if (!entry) entries.set(key, { file: null, making: false, usedMs: Date.now() });
      if (!entry || entry.making || (entry.file && entry.file.editVersion >= at.editVersion)) return;
      entry.making = true;
      last = last
        .then(() => make(at, json, entry))
        .catch(onTrouble)
        .finally(() => {
          entry.making = false;
        });
      await last;
    },
    async close() {
      await last;
      if (folder !== null) await rm(folder, { recursive: true, force: true });
    },
  };
}

function readMark(path: string): string {
  const info = statSync(path, { throwIfNoEntry: false });
  return info ? `${info.size} ${info.mtimeMs}` : 'gone';
}

/** The manifest names the layers; files differ by the columns in them. */
function keyOf(at: TableAt): string {
  return `${at.manifestId} ${at.columns.map((column) => column.id).join(' ')}`;
}

async function writeTail(engine: Engine, at: TableAt, json: string, path: string): Promise<void> {
  const name = `svc_tail_file_${at.versionUid}`;
  const tail = makeTail(at.columns, json);
  const fields = [
    { id: fieldIds.rowId, name: rowIdColumn, type: 'BIGINT' },
    { id: fieldIds.op, name: opColumn, type: 'VARCHAR' },
    { id: fieldIds.layer, name: layerColumn, type: 'INTEGER' },
    ...tail.columns.slice(3).map((column, i) => ({ ...column, id: at.columns[i]?.id ?? 0 })),
  ];
  await engine.use(async (connection) => {
    try {
      await connection.run(createTailTable(name, tail.columns), [tail.json]);
      await connection.run(
        `COPY ${quoteName(name)} TO ${quoteText(path)} (FORMAT parquet, COMPRESSION uncompressed, ${fieldIdList(fields)})`,
      );
    } finally {
      await connection.run(`DROP TABLE IF EXISTS ${quoteName(name)}`);
    }
  });
}
