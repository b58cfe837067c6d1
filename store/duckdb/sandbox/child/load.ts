import type { TreeCheck } from '../../../../core/sql/checkTree.ts';
import { foldName } from '../../../../core/sql/identifiers.ts';
import { createTailTable, quoteName } from '../../relation.ts';
import type { LoadedRelation, ValidateRequest } from '../protocol.ts';
import type { Session } from './session.ts';

/** What the check found the query to need. */
export type LoadPlan = Pick<TreeCheck, 'columns' | 'allColumns'>;

/**
 * Puts the tables of a request into its session and locks it. Tables with hidden columns are copied while their files can
 * still be read; the others are views over files that stay readable. Names are temporary ones: they come before any name
 * of the engine's own catalog.
 */
export async function loadRelations(session: Session, relations: LoadedRelation[], plan: LoadPlan | null): Promise<void> {
  for (const relation of relations.filter((each) => each.governed)) {
    await makeTail(session, relation, plan);
    await session.user.run(`CREATE TEMP TABLE ${quoteName(relation.name)} AS ${pruneColumns(relation, plan)}`);
    if (relation.tail) await session.user.run(`DROP TABLE ${quoteName(relation.tail.name)}`);
  }
  await session.lock();
  for (const relation of relations.filter((each) => !each.governed)) {
    await makeTail(session, relation, plan);
    await session.user.run(`CREATE TEMP VIEW ${quoteName(relation.name)} AS ${relation.select}`);
  }
}

/** Whether the query can mean a column of that name. */
function isMeant(plan: LoadPlan | null): (name: string) => boolean {
  if (!plan || plan.allColumns) return () => true;
  const named = new Set(plan.columns.map(foldName));
  return (name) => named.has(foldName(name));
}

/** A table that must be copied is copied no wider than the query needs it. */
function pruneColumns({ select, columns }: LoadedRelation, plan: LoadPlan | null): string {
  if (!plan || plan.allColumns) return select;
  const wanted = columns.filter(isMeant(plan));
  const kept = wanted.length > 0 ? wanted : columns.slice(-1);
  return `SELECT ${kept.map(quoteName).join(', ')} FROM (${select})`;
}

async function makeTail({ user }: Session, { tail }: LoadedRelation, plan: LoadPlan | null): Promise<void> {
  if (tail) await user.run(createTailTable(tail.name, tail.columns, isMeant(plan)), [tail.json]);
}

/** To bind a query, empty views are enough: no files, no rows. Not tables, which have columns of the engine's own (`rowid`). */
export async function loadEmpty(session: Session, tables: ValidateRequest['tables']): Promise<void> {
  for (const { name, columns } of tables) {
    const empty = columns.map((column) => `CAST(NULL AS ${column.type}) AS ${quoteName(column.name)}`);
    await session.user.run(`CREATE TEMP VIEW ${quoteName(name)} AS SELECT ${empty.join(', ')} WHERE false`);
  }
  // The optimizer would already work out what is constant, however long that takes.
  await session.user.run('PRAGMA disable_optimizer');
  await session.lock();
}
