import type { Principal } from '../../core/access/principal.ts';
import { type ColumnType, formatColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { DomainError } from '../../core/errors.ts';
import { escapePointer } from '../../core/jsonPointer.ts';
import { planColumnEdit } from '../../core/table/edit.ts';
import { openLog } from '../../core/table/layers.ts';
import { type ColumnRecord, rowIdColumn, type TableAt } from '../../core/table/table.ts';
import { type CleanCast, cleanCast } from '../../store/duckdb/cleanCast.ts';
import { readAll, withRelation } from '../../store/duckdb/engine.ts';
import { quoteName } from '../../store/duckdb/relation.ts';
import { replaceColumnAt } from '../../store/pg/columns.ts';
import { updateTable } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { compactionLimits } from '../compaction/limits.ts';
import { keepColumns, writeSegments } from '../compaction/writeSegments.ts';
import { keepNamed } from '../tables/narrowTable.ts';
import { openUnmasked } from '../tables/openTable.ts';
import { type ColumnRequest, openForColumns, type PreparedColumnChange, requireColumn } from './openColumn.ts';
import { requireColumnType } from './refuseColumn.ts';

/**
 * The column goes on under a new id. Its values are cast once, into new segments, so that reading never casts and the
 * versions before keep the text as it was.
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
  const plan = planColumnEdit('column.retype', { column: column.name, old_type: column.type });
  const changed = { column: column.name, type: formatColumnType(type) };
  if (changed.type === column.type) return { at, plan, ...changed, async change() {} };

  const cast = cleanCast(quoteName(column.name), parseColumnType(column.type) as ColumnType, type);
  await refuseUnclean(services, at, column, cast, changed.type);
  const id = at.table.nextColumnId;
  const columns = keepColumns(at).map((each) => (each.id === column.id ? { id, type: changed.type, sql: cast.value, of: column } : each));
  const segments = await writeSegments(services, at, columns, compactionLimits);
  return {
    at,
    plan: { ...plan, layers: [...segments, openLog] },
    ...changed,
    async change(tx, version) {
      // Every row of this version lies in the new segments: nothing is left that would want the old default.
      await replaceColumnAt(tx, at.table.id, version, column.id, { id, name: column.name, type: changed.type, defaultText: null });
      await updateTable(tx, at.table.id, { tailCount: 0 });
    },
  };
}

async function refuseUnclean(services: Services, at: TableAt, column: ColumnRecord, cast: CleanCast, type: string): Promise<void> {
  const relation = await openUnmasked(services, keepNamed(at, [column.name]));
  const first = await withRelation(services.engine, services.blobs, relation, async (connection, from) => {
    const [row] = await readAll(
      connection,
      `SELECT CAST(${rowIdColumn} AS DOUBLE), CAST(${quoteName(column.name)} AS VARCHAR) FROM ${from} WHERE ${cast.unclean} ORDER BY ${rowIdColumn} LIMIT 1`,
    );
    return row as [number, string] | undefined;
  });
  if (!first) return;
  const [rowId, text] = first;
  const shown = text.length > 100 ? `${text.slice(0, 100)}…` : text;
  throw new DomainError(
    'uncastable-value',
    `Row ${rowId}, column ${column.name}: ${JSON.stringify(shown)} cannot be cast to ${type} cleanly.`,
    'Correct that value and those like it, or choose another type; nothing was changed.',
    { errors: [{ pointer: `/rows/${rowId}/${escapePointer(column.name)}`, detail: `cannot be ${type}` }] },
  );
}
