import { DomainError } from '../../core/errors.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { type LandedTable, listLanded } from '../../store/pg/sources.ts';

/** Tables made from the source, without those that its rows were appended to. */
export async function listMadeTables(tx: Tx, sourceId: string): Promise<LandedTable[]> {
  return (await listLanded(tx.orm, [sourceId])).filter(({ landing }) => landing.role !== 'appended');
}

export function refuseEdited(landed: LandedTable[]): void {
  const edited = landed.filter(isEdited).map(({ table }) => table.name);
  if (edited.length === 0) return;
  throw new DomainError(
    'in-use',
    `Tables of this source were edited since: ${edited.slice(0, 10).join(', ')}.`,
    'Upload the file as a source of its own, or undo the edits first.',
  );
}

export const isEdited = ({ landing, table }: LandedTable) => table.editVersion !== landing.editVersion;
