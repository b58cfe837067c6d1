import type { Principal } from '../../core/access/principal.ts';
import { type ColumnType, formatColumnType } from '../../core/cells/columnTypes.ts';
import { DomainError } from '../../core/errors.ts';
import { escapePointer } from '../../core/jsonPointer.ts';
import { sumLayers } from '../../core/storage/use.ts';
import { compactionLimits } from '../../core/table/compactionLimits.ts';
import { planColumnEdit } from '../../core/table/edit.ts';
import { openLog } from '../../core/table/layers.ts';
import type { ColumnRecord, TableAt } from '../../core/table/table.ts';
import { replaceColumnAt } from '../../store/pg/columns.ts';
import { updateTable } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { writeSegments } from '../../store/tables/writeSegments.ts';
import { castColumn, findUncastable } from '../../store/tables/writtenColumns.ts';
import { requireRoom } from '../storage/withRoom.ts';
import { type ColumnRequest, openForColumns, type PreparedColumnChange, requireColumn } from './openColumn.ts';
import { requireColumnType } from './refuseColumn.ts';

/**
 * Replaces the column by one with a new id. Values are cast once into new segments, so reads never cast, and older versions
 * keep their text.
 */
export async function prepareRetypeColumn(
  services: Services,
  principal: Principal,
  request: ColumnRequest,
  columnName: string,
  wantedType: string,
): Promise<PreparedColumnChange> {
  const type = requireColumnType(wantedType);
  const { at, visible } = await openForColumns(services, principal, request);
  const column = requireColumn(visible, columnName);
  const plan = planColumnEdit('column.retype', column.id);
  const changed = { column: column.name, type: formatColumnType(type) };
  if (changed.type === column.type) return { at, plan, ...changed, columns: at.columns, async change() {} };

  await refuseUncastable(services, at, column, type);
  await requireRoom(services, at.table.accountId, sumLayers(at.layers));
  const id = at.table.nextColumnId;
  const columns = castColumn(at, column, { id, type });
  const segments = await writeSegments(services, at, columns, compactionLimits);
  return {
    at,
    plan: { ...plan, layers: [...segments, openLog] },
    ...changed,
    columns: at.columns.map((each) => (each.id === column.id ? { ...each, id, type: changed.type } : each)),
    async change(tx, version) {
      // The new segments hold every row, so the old default is not needed.
      await replaceColumnAt(tx, at.table.id, version, column.id, { id, name: column.name, type: changed.type, defaultText: null });
      await updateTable(tx, at.table.id, { tailCount: 0, tailBytes: 0 });
    },
  };
}

async function refuseUncastable(services: Services, at: TableAt, column: ColumnRecord, type: ColumnType): Promise<void> {
  const first = await findUncastable(services, at, column, type);
  if (!first) return;
  const { rowId, text } = first;
  const typeName = formatColumnType(type);
  const shown = text.length > 100 ? `${text.slice(0, 100)}…` : text;
  throw new DomainError(
    'uncastable-value',
    `Row ${rowId}, column ${column.name}: ${JSON.stringify(shown)} cannot be cast to ${typeName} cleanly.`,
    'Correct that value and those like it, or choose another type; nothing was changed.',
    { errors: [{ pointer: `/rows/${rowId}/${escapePointer(column.name)}`, detail: `cannot be ${typeName}` }] },
  );
}
