import { rowIdColumn } from '../../core/table/table.ts';
import type { VisibleTable } from '../../core/table/visibleTable.ts';
import { buildFileRelation, fieldIds, innerName } from '../duckdb/buildRelation.ts';
import { withRelation } from '../duckdb/engine.ts';
import { quoteName, quoteText, type Relation } from '../duckdb/relation.ts';
import type { VisibleFiles } from '../duckdb/visibleFiles.ts';
import { fieldIdList } from '../duckdb/writeFile.ts';
import { openRelation } from './openRelation.ts';
import type { TableStorage } from './tableStorage.ts';

export interface SandboxStorage extends TableStorage {
  visibleFiles: VisibleFiles;
}

/** The relation of a table for user SQL. If columns are hidden, over a copy without them, where there is one. */
export async function openSandboxRelation(storage: SandboxStorage, visible: VisibleTable): Promise<Relation> {
  if (visible.effects.size === 0) return openRelation(storage, visible);
  const path = storage.visibleFiles.find(visible);
  if (path !== null) return buildFileRelation(visible, path);
  void storage.visibleFiles.offer(visible, (to) => writeVisible(storage, visible, to));
  return openRelation(storage, visible);
}

async function writeVisible(storage: TableStorage, visible: VisibleTable, path: string): Promise<void> {
  const stored = visible.columns.filter(({ masked }) => !masked);
  const fields = [
    { id: fieldIds.rowId, name: rowIdColumn, type: 'BIGINT' },
    ...stored.map(({ id, type }) => ({ id, name: innerName(id), type })),
  ];
  const list = stored.map(({ id, name, type }) => `CAST(${quoteName(name)} AS ${type === 'JSON' ? 'VARCHAR' : type}) AS ${innerName(id)}`);
  await withRelation(storage.engine, storage.blobs, await openRelation(storage, visible), (connection, from) =>
    connection.run(
      `COPY (SELECT ${[rowIdColumn, ...list].join(', ')} FROM ${from}) TO ${quoteText(path)} (FORMAT parquet, COMPRESSION uncompressed, ${fieldIdList(fields)})`,
    ),
  );
}
