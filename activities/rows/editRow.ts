import type { Principal } from '../../core/access/principal.ts';
import { GivenRow } from '../../core/cells/givenRow.ts';
import { DomainError } from '../../core/errors.ts';
import type { PreparedEdit } from '../../core/table/edit.ts';
import { rowIdColumn } from '../../core/table/table.ts';
import type { Services } from '../../store/services.ts';
import { prepareDelete } from './deleteRows.ts';
import { missingRow } from './readRow.ts';
import { type EditRequest, prepareUpsert, type RowWords } from './upsertRows.ts';

/** Edits of one row that is named in the address: as those of many, but a row that does not exist is not found. */
const oneRow: RowWords = { pointerOf: () => '/row', refuseMissing: () => missingRow() };

export async function prepareRowUpdate(
  services: Services,
  principal: Principal,
  request: EditRequest,
  rowId: number,
  row: object,
): Promise<PreparedEdit> {
  return prepareUpsert(services, principal, request, [addressRow(row, rowId)], oneRow);
}

export async function prepareRowDelete(
  services: Services,
  principal: Principal,
  request: EditRequest,
  rowId: number,
): Promise<PreparedEdit> {
  return prepareDelete(services, principal, request, [rowId], oneRow);
}

/** The row with the id of the address. It may hold that id already, as rows that were read do. */
function addressRow(row: object, rowId: number): GivenRow {
  const { names, values } = GivenRow.of(row);
  const place = names.indexOf(rowIdColumn);
  if (place < 0) return new GivenRow([...names, rowIdColumn], [...values, rowId]);
  if (values[place] === rowId) return new GivenRow(names, values);
  throw new DomainError('validation-failed', 'The row id in the body is not that of the address.', 'Leave __svc_row_id out.', {
    errors: [{ pointer: `/row/${rowIdColumn}`, detail: `is not ${rowId}, the row of the address` }],
  });
}
