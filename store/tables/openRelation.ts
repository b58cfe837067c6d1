import type { DuckDBConnection } from '@duckdb/node-api';
import type { RowSelection, TableVersion } from '../../core/table/table.ts';
import { seeEverything, type VisibleTable } from '../../core/table/visibleTable.ts';
import { buildRelation } from '../duckdb/buildRelation.ts';
import { withRelation } from '../duckdb/engine.ts';
import type { Relation } from '../duckdb/relation.ts';
import { readTail } from './readLogLayers.ts';
import type { TableStorage } from './tableStorage.ts';

/** The relation of a table, or of some of its rows. */
export async function openRelation(storage: TableStorage, visible: VisibleTable, selection: RowSelection | null = null): Promise<Relation> {
  return buildRelation(visible, await readTail(storage, visible, selection), selection);
}

/** Runs `work` with a FROM expression for the rows of a table. */
export async function queryTable<T>(
  storage: TableStorage,
  visible: VisibleTable,
  selection: RowSelection | null,
  work: (connection: DuckDBConnection, from: string) => Promise<T>,
): Promise<T> {
  return withRelation(storage.engine, storage.blobs, await openRelation(storage, visible, selection), work);
}

/** The same with the row id as the only column, which is cheap even for long rows. */
export async function queryRowIds<T>(
  storage: TableStorage,
  at: TableVersion,
  selection: RowSelection | null,
  work: (connection: DuckDBConnection, from: string) => Promise<T>,
): Promise<T> {
  return queryTable(storage, seeEverything({ ...at, columns: [] }), selection, work);
}
