import type pg from 'pg';
import { DomainError } from '../../core/errors.ts';
import { findNamed, lockNames, type NamedArtifact } from '../../store/pg/artifacts.ts';
import type { Tx } from '../../store/pg/commit.ts';

const whats: Record<NamedArtifact, string> = { table: 'An active table', sheet: 'A sheet', chart: 'A chart' };

export function nameTaken(name: string, by: NamedArtifact = 'table'): DomainError {
  return new DomainError(
    'name-taken',
    `${whats[by]} named ${name} exists in this workbook (case does not count).`,
    `Choose another name, or ${by === 'table' ? 'archive or delete that table' : `delete that ${by}`}.`,
  );
}

/** Runs inside the transaction that gives a name: refuses one that something of another kind has. Nobody else gives it meanwhile. */
export async function requireFreeName(tx: Tx, workbookId: string, name: string, own: NamedArtifact): Promise<void> {
  await lockNames(tx, workbookId);
  await refuseTakenName(tx.client, workbookId, name, own);
}

/** The same before there is a transaction. */
export async function refuseTakenName(
  client: pg.Pool | pg.PoolClient,
  workbookId: string,
  name: string,
  own: NamedArtifact,
): Promise<void> {
  const other = (await findNamed(client, workbookId, name)).find((kind) => kind !== own);
  if (other) throw nameTaken(name, other);
}
