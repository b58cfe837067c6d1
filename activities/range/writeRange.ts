import { formatRange } from '../../core/a1/address.ts';
import { placeValues, type Scalar } from '../../core/a1/block.ts';
import type { Principal } from '../../core/access/principal.ts';
import { presentCell } from '../../core/cells/presentCell.ts';
import type { Range } from '../../core/grid/grid.ts';
import { type BlockFault, castBlock } from '../../core/table/castBlock.ts';
import { type Casting, type CastRow, type TypedColumn, typeColumns } from '../../core/table/casting.ts';
import { touchedCells } from '../../core/table/changes.ts';
import type { PreparedEdit } from '../../core/table/edit.ts';
import type { Cells, TableAt } from '../../core/table/table.ts';
import type { VisibleColumn } from '../../core/table/visibleTable.ts';
import { findTableAt } from '../../store/pg/tables.ts';
import type { Services } from '../../store/services.ts';
import { findRowIds } from '../../store/tables/findRowIds.ts';
import { readStoredRows } from '../../store/tables/readStoredRows.ts';
import { overrideCells, requireCellsEditable } from '../overrides/overrideCells.ts';
import { checkVersion } from '../rows/checkVersion.ts';
import { refuseMasked } from '../rows/refuseMasked.ts';
import { type EditRequest, planOnStored } from '../rows/upsertRows.ts';
import { writeLargeEdit } from '../rows/writeLargeEdit.ts';
import { requireTable } from '../tables/openTable.ts';
import { openVisibleColumns } from '../tables/openVisibleTable.ts';
import { refuseRange, requireBlock } from './openBlock.ts';

export interface PreparedRange extends PreparedEdit {
  range: string;
  /** The cells of the block after the write. */
  values: Scalar[][];
}

/** Turns a block of cells into an upsert: existing rows at its positions, and new rows directly after the last one. */
export async function prepareRangeWrite(
  services: Services,
  principal: Principal,
  request: EditRequest,
  rangeText: string,
  values: Scalar[][],
): Promise<PreparedRange> {
  const at = await requireTable(services, request.workbookId, request.name);
  await requireCellsEditable(services, at);
  const placed = placeValues(requireBlock(rangeText, '/range'), values);
  if (!placed.ok) throw refuseRange({ pointer: '/values', detail: placed.why });
  const { block } = placed;
  const { columns: visible } = await openVisibleColumns(services, principal, at);
  const { expectedVersion, rebase } = request;
  // Positions refer to the version the caller saw, so a rebase looks the rows up there, if it can still be read.
  const then = rebase && expectedVersion !== null ? await findSeen(services, at, expectedVersion) : at;
  if (!rebase || then?.schemaVersion !== at.schemaVersion) await checkVersion(services, at, expectedVersion, visible, null);
  const seen = then ?? at;
  const columns = requireColumns(block, visible);
  if (block.top - 2 > seen.rowCount)
    throw refuseRange({ pointer: '/range', detail: `leaves a gap: the table ends with row ${seen.rowCount + 1}` });
  const ids = await findRowIds(services, seen, block.top - 2, values.length);
  const rows = requireCast(castBlock(columns, values, ids));
  if (rebase) await checkVersion(services, at, expectedVersion, visible, { touched: touchedCells(rows) });

  const planned = await planOnStored(services, at, rows, { detail: { range: formatRange(block) } });
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
  const edit = await writeLargeEdit(services, await overrideCells(services, planned));
  return {
    ...edit,
    range: formatRange(block),
    values: shown.map((cells) => columns.map(({ id, parsed, masked }) => (masked ? null : presentCell(parsed, cells[id] ?? null)))),
  };
}

async function findSeen(services: Services, at: TableAt, version: number): Promise<TableAt | null> {
  return version >= at.editVersion || version < 1 ? at : findTableAt(services.db.pool, at.table, version);
}

function requireColumns(block: Range, visible: VisibleColumn[]): TypedColumn[] {
  if (block.top === 1)
    throw refuseRange({ pointer: '/range', detail: 'covers row 1, the header; rename columns with PATCH …/columns/{column}' });
  if (block.right > visible.length)
    throw refuseRange({ pointer: '/range', detail: `goes beyond the last of the ${visible.length} columns; add one first` });
  return typeColumns(visible.slice(block.left - 1, block.right));
}

function requireCast(casting: Casting<BlockFault>): CastRow[] {
  if (casting.kind === 'cast') return casting.rows;
  if (casting.kind === 'masked') throw refuseMasked(casting.column, 'Send null for its cells, or ask for a role that may see it.');
  throw refuseRange(...casting.faults.map(({ row, column, why }) => ({ pointer: `/values/${row}/${column}`, detail: why })));
}
