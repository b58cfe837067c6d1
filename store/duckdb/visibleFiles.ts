import type { VisibleTable } from '../../core/table/visibleTable.ts';
import { openLocalFiles } from './localFiles.ts';

/**
 * Copies of tables without the columns that are hidden from somebody, as local files. User SQL reads such a file as it is; without
 * one, the table is loaded into the process first, which takes longer than most queries. A version that is asked for a second time
 * with the same columns is written to a file. Any file may be lost at any time.
 */
export interface VisibleFiles {
  /** The path of the file; null if there is none. */
  find(visible: VisibleTable): string | null;
  /** Called where there was none; may write it. Callers need not wait for it. */
  offer(visible: VisibleTable, write: (path: string) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/** What a table may take that is worth a copy; and what all files may take together. */
const mostTableBytes = 256 * 1024 ** 2;
const most = { known: 1_000, bytes: 2 * 1024 ** 3 };

export function openVisibleFiles(makeFolder: () => Promise<string>, onTrouble: (error: unknown) => void): VisibleFiles {
  const files = openLocalFiles('visible_files', makeFolder, onTrouble, most);
  return {
    find: (visible) => files.find(keyOf(visible))?.path ?? null,
    async offer(visible, write) {
      if (countBytes(visible) > mostTableBytes) return;
      await files.offer(keyOf(visible), async (path) => {
        await write(path);
        return {};
      });
    },
    close: files.close,
  };
}

function countBytes({ at }: VisibleTable): number {
  return at.layers.reduce((sum, layer) => sum + (layer.kind === 'log' ? 0 : layer.bytes), 0);
}

/** What is in the file: the version, and the columns whose values are shown. */
function keyOf({ at, columns }: VisibleTable): string {
  return `${at.versionUid} ${columns.flatMap(({ id, masked }) => (masked ? [] : [id])).join(' ')}`;
}
