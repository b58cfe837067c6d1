import { rowIdColumn, type TableAt } from '../../core/table/table.ts';
import { fieldIds, layerColumn, makeTail, opColumn } from './buildRelation.ts';
import type { Engine } from './engine.ts';
import { openLocalFiles } from './localFiles.ts';
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

export function openTailFiles(
  engine: Engine,
  makeFolder: () => Promise<string>,
  onTrouble: (error: unknown) => void,
  limits: TailLimits = usualLimits,
): TailFiles {
  const files = openLocalFiles<Omit<TailFile, 'path'>>('log_files', makeFolder, onTrouble, {
    known: 10_000,
    bytes: Number.POSITIVE_INFINITY,
  });
  return {
    limits,
    find: (at) => files.find(keyOf(at), ({ editVersion }) => editVersion <= at.editVersion),
    async offer(at, json) {
      if (json.length <= limits.worthwhile) return;
      const { editVersion, versionUid } = at;
      const write = async (path: string) => {
        await writeTail(engine, at, json, path);
        return { editVersion, versionUid };
      };
      await files.offer(keyOf(at), write, (kept) => kept.editVersion >= editVersion);
    },
    close: files.close,
  };
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
