import type pg from 'pg';
import { DomainError } from '../../core/errors.ts';
import { findNamed, type NamedArtifact } from '../../store/pg/artifacts.ts';

const whats: Record<NamedArtifact, string> = { table: 'An active table', sheet: 'A sheet', chart: 'A chart' };

export function nameTaken(name: string, by: NamedArtifact = 'table'): DomainError {
  return new DomainError(
    'name-taken',
    `${whats[by]} named ${name} exists in this workbook (case does not count).`,
    `Choose another name, or ${by === 'table' ? 'archive or delete that table' : `delete that ${by}`}.`,
  );
}

/** Refuses a name that something of another kind has. */
export async function requireFreeName(
  client: pg.Pool | pg.PoolClient,
  workbookId: string,
  name: string,
  own: NamedArtifact,
): Promise<void> {
  const other = (await findNamed(client, workbookId, name)).find((kind) => kind !== own);
  if (other) throw nameTaken(name, other);
}
