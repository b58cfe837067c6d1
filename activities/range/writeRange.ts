import { formatBlock, placeValues, type Scalar } from '../../core/a1/block.ts';
import type { Principal } from '../../core/access/principal.ts';
import { type Cast, castValue, Refusal } from '../../core/cells/castValue.ts';
import { type ColumnType, parseColumnType } from '../../core/cells/columnTypes.ts';
import { parseExactly } from '../../core/cells/jsonReader.ts';
import { DomainError, type ProblemItem } from '../../core/errors.ts';
import type { Range } from '../../core/grid/grid.ts';
import type { Cells, ColumnRecord, TableAt } from '../../core/table/table.ts';
import { findTableAt } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { checkVersion } from '../rows/checkVersion.ts';
import { findRowIds } from '../rows/findRowIds.ts';
import { writeLargeEdit } from '../rows/largeEdit.ts';
import { type CastRow, planUpsert, touchedCells } from '../rows/planUpsert.ts';
import { readStoredRows } from '../rows/readStoredRows.ts';
import { type EditRequest, visibleColumns } from '../rows/upsertRows.ts';
import { type PreparedEdit, requireEditable } from '../tables/editTable.ts';
import { requireTable } from '../tables/openTable.ts';
import { refuseRange, requireBlock } from './openBlock.ts';
import { presentCell } from './presentCell.ts';

const mostErrors = 100;

export interface PreparedRange extends PreparedEdit {
  range: string;
  /** The cells of the block as they will be. */
  values: Scalar[][];
}

/** A block of cells as an upsert of rows: those at its positions, and new ones directly past the end. */
export async function prepareRangeWrite(
  services: Services,
  principal: Principal,
  request: EditRequest,
  rangeText: string,
  values: Scalar[][],
): Promise<PreparedRange> {
  const at = await requireTable(services, request.workbookId, request.name);
  requireEditable(at);
  const placed = placeValues(requireBlock(rangeText, '/range'), values);
  if (!placed.ok) throw refuseRange({ pointer: '/values', detail: placed.why });
  const { block } = placed;
  const { visible, masked } = await visibleColumns(services, principal, at);
  const { expectedVersion, rebase } = request;
  // Positions are those that the caller saw: on a rebase, the rows are looked up where they were, if that can still be read.
  const then = rebase && expectedVersion !== null ? await findSeen(services, at, expectedVersion) : at;
  if (!rebase || then?.schemaVersion !== at.schemaVersion) await checkVersion(services, at, expectedVersion, visible, null);
  const seen = then ?? at;
  const columns = requireColumns(block, visible);
  if (block.top - 2 > seen.rowCount)
    throw refuseRange({ pointer: '/range', detail: `leaves a gap: the table ends with row ${seen.rowCount + 1}` });
  const ids = await findRowIds(services, seen, block.top - 2, values.length);
  const rows = castBlock(columns, masked, values, ids);
  if (rebase) await checkVersion(services, at, expectedVersion, visible, { touched: touchedCells(rows) });

  const planned = await planUpsert(services, at, rows, { range: formatBlock(block) });
  const after = new Map(planned.plan.entries.map((entry) => [entry.rowId, entry.cells ?? {}]));
  const untouched = await readStoredRows(
    services,
    at,
    ids.filter((id) => !after.has(id)),
  );
  const shown = values.map((_, i): Cells => {
    const id = ids[i] ?? ids.length - i - 1;
    return after.get(id) ?? untouched.get(id) ?? {};
  });
  const edit = await writeLargeEdit(services, planned);
  return {
    ...edit,
    range: formatBlock(block),
    values: shown.map((cells) => columns.map(({ id, parsed }) => (masked.has(id) ? null : presentCell(parsed, cells[id] ?? null)))),
  };
}

async function findSeen(services: Services, at: TableAt, version: number): Promise<TableAt | null> {
  return version >= at.editVersion || version < 1 ? at : findTableAt(services.db.pool, at.table, version);
}

type TypedColumn = ColumnRecord & { parsed: ColumnType };

function requireColumns(block: Range, visible: ColumnRecord[]): TypedColumn[] {
  if (block.top === 1)
    throw refuseRange({ pointer: '/range', detail: 'covers row 1, the header; rename columns with PATCH …/columns/{column}' });
  if (block.right > visible.length)
    throw refuseRange({ pointer: '/range', detail: `goes beyond the last of the ${visible.length} columns; add one first` });
  return visible.slice(block.left - 1, block.right).map((column) => ({ ...column, parsed: parseColumnType(column.type) as ColumnType }));
}

/** `null` leaves a cell as it is, `""` clears it. Rows past the end are new, up to the last one that has something in it. */
function castBlock(columns: TypedColumn[], masked: Set<number>, values: Scalar[][], ids: number[]): CastRow[] {
  const errors: ProblemItem[] = [];
  const cast = values.map((row, i): CastRow => {
    const cells: Cells = {};
    for (const [j, value] of row.entries()) {
      const column = columns[j] as TypedColumn;
      if (value === null) continue;
      if (masked.has(column.id))
        throw new DomainError(
          'insufficient-role',
          `The column ${column.name} is masked for you and cannot be written.`,
          'Send null for its cells, or ask for a role that may see it.',
        );
      const result = castCell(column.parsed, value);
      if (!(result instanceof Refusal)) cells[column.id] = result;
      else if (errors.length < mostErrors) errors.push({ pointer: `/values/${i}/${j}`, detail: result.why });
    }
    return { rowId: ids[i] ?? null, cells, given: Object.keys(cells).map(Number) };
  });
  if (errors.length > 0) throw refuseRange(...errors);
  const isEmpty = (row: CastRow) => row.given.length === 0;
  const last = cast.findLastIndex((row) => !isEmpty(row));
  return cast.filter((row, i) => (row.rowId === null ? i <= last : !isEmpty(row)));
}

function castCell(type: ColumnType, value: Exclude<Scalar, null>): Cast {
  if (value === '') return null;
  if (type.kind !== 'JSON' || typeof value !== 'string') return castValue(type, value);
  try {
    return castValue(type, parseExactly(value));
  } catch {
    return new Refusal('must be JSON');
  }
}
