import { DomainError, describeFirst, type ProblemItem } from '../../core/errors.ts';
import { escapePointer } from '../../core/jsonPointer.ts';
import type { CastRow } from '../../core/table/casting.ts';
import { chooseKey, matchRows, type RowKeyFault, readKeys } from '../../core/table/matchKeys.ts';
import type { VisibleTable } from '../../core/table/visibleTable.ts';
import type { Services } from '../../store/services.ts';
import { findRowsByKey } from '../../store/tables/findRowsByKey.ts';
import { refuseMasked } from './refuseMasked.ts';

/** Finds out which rows of a table are meant by the values of the key's columns, at the version that the edit is planned on. */
export async function matchByKey(services: Services, visible: VisibleTable, key: string[], rows: CastRow[]): Promise<CastRow[]> {
  const chosen = chooseKey(visible.columns, key);
  if (chosen.kind === 'masked') throw refuseMasked(chosen.column, 'Choose a key of columns that you may see.');
  if (chosen.kind === 'faulty') throw refuse(chosen.faults.map(({ place, why }) => ({ pointer: `/key/${place}`, detail: why })));
  const read = readKeys(rows, chosen.columns);
  if (read.kind === 'faulty') throw refuse(read.faults.map(pointAt));
  const matched = matchRows(rows, await findRowsByKey(services, visible, chosen.columns, read.keys));
  if (matched.kind === 'faulty') throw refuse(matched.faults.map(pointAt));
  return matched.rows;
}

function pointAt({ row, name, why }: RowKeyFault): ProblemItem {
  return { pointer: `/rows/${row}${name === null ? '' : `/${escapePointer(name)}`}`, detail: why };
}

function refuse(errors: ProblemItem[]): DomainError {
  return new DomainError(
    'validation-failed',
    describeFirst(errors),
    'Correct what `errors` lists, or choose columns that tell the rows apart; nothing was changed.',
    { errors },
  );
}
