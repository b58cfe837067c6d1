/** Which type a column of an output table gets: what the ParseSpec says where every value fits, what fits otherwise. */

import { nameCell, nameColumn } from '../../a1/address.ts';
import { type ColumnType, parseColumnType } from '../../cells/columnTypes.ts';
import { castCell } from '../../types/castCell.ts';
import type { InferredColumn, InferredType, Reading, StoredValue } from '../../types/infer.ts';
import { CellValues } from '../sheet/cellValues.ts';
import { inferCells } from '../sheet/columnValues.ts';
import type { SheetView } from '../sheet/sheet.ts';
import type { SpecColumn, SpecRegion } from '../spec/spec.ts';
import type { EmitPlan, TypeRules } from './emitPlan.ts';
import type { TableRole, ValueList } from './output.ts';

export interface WantedType extends Reading {
  type: ColumnType;
  name: string;
}

/** The types that analysis proposes; the others are used only when somebody asks for them. */
const PLAIN_TYPES = new Set<string>(['BIGINT', 'DOUBLE', 'BOOLEAN', 'DATE', 'TIMESTAMP', 'VARCHAR'] satisfies InferredType[]);

export function readType(column: SpecColumn): WantedType | null {
  const type = parseColumnType(column.type);
  if (!type) return null;
  return { type, name: column.type, ...readFormat(column.format) };
}

/** The formats that analysis writes, and what people may write like them. */
const DECIMAL_COMMA = '#.##0,00';

export function formatOf({ dayFirst, decimalComma }: Reading): string | null {
  if (decimalComma) return DECIMAL_COMMA;
  return dayFirst === undefined ? null : dayFirst ? 'DD/MM/YYYY' : 'MM/DD/YYYY';
}

function readFormat(format: string | undefined): Reading {
  const order = /^[dm]/i.exec(format ?? '')?.[0].toLowerCase();
  if (order) return { dayFirst: order === 'd' };
  return /^[#0.]*0,0/.test(format ?? '') ? { decimalComma: true } : {};
}

/** The type on which all columns of a measure agree; where they do not, or nobody asked for it, the cells decide. */
export function commonType(rules: TypeRules, region: SpecRegion, measure: string): WantedType | null {
  const from = new Set<string>();
  for (const period of region.periods ?? []) if (period.measure === measure && !period.computed) from.add(period.from);
  const own = region.columns.filter((column) => from.has(column.from));
  const [first] = own;
  if (!first || own.some((column) => column.type !== first.type || column.format !== first.format)) return null;
  return rules.binding || !PLAIN_TYPES.has(first.type) ? readType(first) : null;
}

interface SettledColumn {
  type: string;
  values: ValueList;
}

export function settleColumn(plan: EmitPlan, role: TableRole, wanted: WantedType | null, cells: Int32Array): SettledColumn {
  const { view, types } = plan;
  // Words beside the figures of a total are no fault of the column.
  const binding = types.binding && role !== 'computed';
  if (wanted && (binding || !PLAIN_TYPES.has(wanted.name))) {
    const cast = castAll(view, wanted, cells);
    if ('values' in cast) return { type: wanted.name, values: cast.values };
    if (binding) reportMisfit(plan, wanted, cast.misfit);
  }
  const plain = wanted && PLAIN_TYPES.has(wanted.name) ? asPlain(wanted) : null;
  const settled = settlePlain(view, plain, cells);
  return { type: settled.type, values: new CellValues(view.grid, cells, settled) };
}

function castAll(view: SheetView, wanted: WantedType, cells: Int32Array): { values: StoredValue[] } | { misfit: number } {
  const values: StoredValue[] = [];
  for (const cell of cells) {
    const value = cell < 0 ? null : castCell(view.value(cell), wanted.type, wanted);
    if (value === undefined) return { misfit: cell };
    values.push(value);
  }
  return { values };
}

function reportMisfit({ view, region, types }: EmitPlan, wanted: WantedType, cell: number): void {
  const [row, column] = [view.grid.rows[cell]!, view.grid.columns[cell]!];
  const from = nameColumn(column);
  if (types.misfits.some((other) => other.regionId === region.id && other.from === from)) return;
  types.misfits.push({ regionId: region.id, from, type: wanted.name, cell: nameCell(row, column), value: view.label(cell) });
}

function asPlain(wanted: WantedType): InferredColumn {
  const { name, dayFirst, decimalComma } = wanted;
  return { type: name as InferredType, ...(dayFirst === undefined ? {} : { dayFirst }), ...(decimalComma ? { decimalComma } : {}) };
}

function settlePlain(view: SheetView, wanted: InferredColumn | null, cells: Int32Array): InferredColumn {
  const filled = cells.some((cell) => cell >= 0);
  if (!filled) return wanted ?? { type: 'DOUBLE' };
  if (wanted?.type === 'VARCHAR') return wanted;
  const own = inferCells(view.grid, cells, wanted ? { decimalComma: wanted.decimalComma } : {});
  if (!wanted || own.type === wanted.type) return own;
  return fits(own.type, wanted.type) ? wanted : own;
}

/** A narrower kind fits a wider column: integers among doubles, days among moments. */
function fits(own: InferredType, wanted: InferredType): boolean {
  return (own === 'BIGINT' && wanted === 'DOUBLE') || (own === 'DATE' && wanted === 'TIMESTAMP');
}
