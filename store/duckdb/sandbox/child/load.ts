import { scanColumn, scanTable } from '../../../../core/lineage/scanNames.ts';
import type { TreeCheck } from '../../../../core/sql/checkTree.ts';
import { foldName } from '../../../../core/sql/identifiers.ts';
import { createTailTable, quoteName } from '../../relation.ts';
import type { LoadedRelation, ValidateRequest } from '../protocol.ts';
import type { Session } from './session.ts';

/** The columns that the query needs, as found by the check. */
export type LoadPlan = Pick<TreeCheck, 'columns' | 'allColumns'>;

/**
 * Loads tables into a session and locks it; of `folders` alone files can be read then. Tables with hidden columns are copied, because their files are
 * removed afterwards; the others are views over files. All are temporary, so that their names take precedence over DuckDB's
 * own catalog.
 */
export async function loadRelations(
  session: Session,
  relations: LoadedRelation[],
  plan: LoadPlan | null,
  folders: string[],
): Promise<void> {
  for (const relation of relations.filter((each) => each.governed)) {
    await makeTail(session, relation, plan);
    await session.user.run(`CREATE TEMP TABLE ${quoteName(relation.name)} AS ${pruneColumns(relation, plan)}`);
    if (relation.tail) await session.user.run(`DROP TABLE ${quoteName(relation.tail.name)}`);
  }
  await session.lock(folders);
  for (const relation of relations.filter((each) => !each.governed)) {
    await makeTail(session, relation, plan);
    await session.user.run(`CREATE TEMP VIEW ${quoteName(relation.name)} AS ${relation.select}`);
  }
}

/** Whether the query may use a column of that name. */
function isMeant(plan: LoadPlan | null): (name: string) => boolean {
  if (!plan || plan.allColumns) return () => true;
  const named = new Set(plan.columns.map(foldName));
  return (name) => named.has(foldName(name));
}

/** Copies only the columns that the query needs. */
function pruneColumns({ select, columns }: LoadedRelation, plan: LoadPlan | null): string {
  if (!plan || plan.allColumns) return select;
  const wanted = columns.filter(isMeant(plan));
  const kept = wanted.length > 0 ? wanted : columns.slice(-1);
  return `SELECT ${kept.map(quoteName).join(', ')} FROM (${select})`;
}

async function makeTail({ user }: Session, { tail }: LoadedRelation, plan: LoadPlan | null): Promise<void> {
  if (tail) await user.run(createTailTable(tail.name, tail.columns, isMeant(plan)), [tail.json]);
}

/** Binding a query needs only empty views. Not tables, because these have a column `rowid`. */
export async function loadEmpty(session: Session, tables: ValidateRequest['tables']): Promise<void> {
  for (const { name, columns } of tables) {
    const empty = columns.map((column) => `CAST(NULL AS ${column.type}) AS ${quoteName(column.name)}`);
    await session.user.run(`CREATE TEMP VIEW ${quoteName(name)} AS SELECT ${empty.join(', ')} WHERE false`);
  }
  await lockBinding(session);
}

/** Views over empty tables, which a plan names by their places (core/lineage/scanNames.ts). */
export async function loadEmptyTables(session: Session, tables: ValidateRequest['tables'], plan: LoadPlan): Promise<void> {
  const isNeeded = isMeant(plan);
  for (const [place, { name, columns }] of tables.entries()) {
    const all = columns.map((column, i) => ({ ...column, place: scanColumn(i) }));
    const needed = all.filter((column) => isNeeded(column.name));
    const kept = needed.length > 0 ? needed : all.slice(-1);
    await session.user.run(`CREATE TEMP TABLE ${scanTable(place)} (${kept.map((column) => `${column.place} ${column.type}`).join(', ')})`);
    const named = kept.map((column) => `${column.place} AS ${quoteName(column.name)}`);
    await session.user.run(`CREATE TEMP VIEW ${quoteName(name)} AS SELECT ${named.join(', ')} FROM ${scanTable(place)}`);
  }
  await lockBinding(session);
}

async function lockBinding(session: Session): Promise<void> {
  // The optimizer would evaluate constant expressions, which can take long.
  await session.user.run('PRAGMA disable_optimizer');
  await session.lock([]);
}
