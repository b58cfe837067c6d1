import type { DuckDBConnection } from '@duckdb/node-api';
import type { RowSelection, TableVersion } from '../../core/table/table.ts';
import { seeEverything, type VisibleTable } from '../../core/table/visibleTable.ts';
import { buildRelation } from '../duckdb/buildRelation.ts';
import { withRelation } from '../duckdb/engine.ts';
import type { Relation } from '../duckdb/relation.ts';
import { readTail } from './readLogLayers.ts';
import type { TableStorage } from './tableStorage.ts';

/** The rows of a table, or some of them, for an engine. */
export async function openRelation(storage: TableStorage, visible: VisibleTable, selection: RowSelection | null = null): Promise<Relation> {
  return buildRelation(visible, await readTail(storage, visible, selection), selection);
}

/** Runs `work` over the rows of a table with SQL that stands for them. */
export async function queryTable<T>(
  storage: TableStorage,
  visible: VisibleTable,
  selection: RowSelection | null,
  work: (connection: DuckDBConnection, from: string) => Promise<T>,
): Promise<T> {
  return withRelation(storage.engine, storage.blobs, await openRelation(storage, visible, selection), work);
}

/** The same with no column but the row id: cheap, whatever the rows hold. */
export async function queryRowIds<T>(
  storage: TableStorage,
  at: TableVersion,
  selection: RowSelection | null,
  work: (connection: DuckDBConnection, from: string) => Promise<T>,
): Promise<T> {
  return queryTable(storage, seeEverything({ ...at, columns: [] }), selection, work);
}
