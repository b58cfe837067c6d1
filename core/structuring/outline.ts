/** The outline of a table: which row stands under which, before any arithmetic. */

import type { SheetView } from './sheet.js';
import type { TableRows } from './tableRows.js';
import { isComputedLabel, isTotalLabel } from './words.js';

export interface OutlineNode {
  /** Position in the data rows. */
  at: number;
  row: number;
  label: string;
  labelCell: number;
  /** A label that stands beside its first child instead of on a row of its own. */
  virtual: boolean;
  hasValues: boolean;
  /** Nothing but the label stands on the row. */
  alone: boolean;
  offset: number;
  bold: boolean;
  total: boolean;
  ratio: boolean;
  parent: number;
}

/** One label column further right weighs more than any indent. */
const COLUMN_STEP = 1000;

export function readOutline(view: SheetView, table: TableRows): OutlineNode[] {
  const depths = new Map(pickLabelColumns(view, table).map((column, k) => [column, k]));
  const values = new Set(table.valueColumns);
  const nodes: OutlineNode[] = [];
  table.rows.forEach((row, at) => readRow(view, table.spans[at]!, depths, values, row, at, nodes));
  linkParents(nodes);
  return nodes;
}

/** Several label columns are levels when the left ones repeat or stay blank; otherwise they are codes beside names. */
export function pickLabelColumns(view: SheetView, table: TableRows): number[] {
  const columns = table.labelColumns;
  if (columns.length < 2) return columns;
  const filled = columns.map(() => 0);
  const distinct = columns.map(() => new Set<number>());
  for (const [from, to] of table.spans) {
    for (let i = from; i < to; i += 1) {
      const k = columns.indexOf(view.grid.columns[i]!);
      if (k < 0) continue;
      filled[k] = filled[k]! + 1;
      distinct[k]!.add(view.grid.texts[i]!);
    }
  }
  const last = columns.length - 1;
  let first = last;
  while (first > 0 && filled[first - 1]! > 0 && distinct[first - 1]!.size <= 0.7 * Math.max(1, filled[last]!)) first -= 1;
  return columns.slice(first);
}

function readRow(view: SheetView, [from, to]: [number, number], depths: Map<number, number>, valueColumns: Set<number>, row: number, at: number, nodes: OutlineNode[]): void {
  const own: number[] = [];
  let others = 0;
  let values = 0;
  for (let i = from; i < to; i += 1) {
    const column = view.grid.columns[i]!;
    if (depths.has(column)) own.push(i);
    else {
      others += 1;
      if (valueColumns.has(column)) values += 1;
    }
  }
  const base = { at, row, hasValues: values > 0, alone: others === 0 };
  if (own.length === 0) {
    nodes.push({ ...base, label: '', labelCell: -1, virtual: false, offset: depths.size * COLUMN_STEP, bold: false, total: false, ratio: false, parent: -1 });
    return;
  }
  own.forEach((cell, k) => {
    const label = view.label(cell);
    const depth = depths.get(view.grid.columns[cell]!)!;
    const virtual = k < own.length - 1;
    if (virtual && repeatsAbove(nodes, label, depth)) return;
    nodes.push({
      ...base,
      label,
      labelCell: cell,
      virtual,
      hasValues: !virtual && base.hasValues,
      alone: virtual || base.alone,
      offset: depth * COLUMN_STEP + view.indent(cell),
      bold: view.style(cell).bold,
      total: !virtual && isTotalLabel(label),
      ratio: !virtual && isComputedLabel(label),
      parent: -1,
    });
  });
}

/** `関東` written again on every row of its group is one group. */
function repeatsAbove(nodes: OutlineNode[], label: string, depth: number): boolean {
  for (let k = nodes.length - 1; k >= 0; k -= 1) {
    const node = nodes[k]!;
    const nodeDepth = Math.floor(node.offset / COLUMN_STEP);
    if (nodeDepth < depth) return false;
    if (nodeDepth === depth) return node.virtual && node.label === label;
  }
  return false;
}

/** Parents by offset; a label alone on its row also takes the rows below it at its own offset, until the next one. */
export function linkParents(nodes: OutlineNode[]): void {
  const stack: { node: number; offset: number; group: boolean; childOffset: number | null }[] = [];
  nodes.forEach((node, k) => {
    const group = node.alone && !node.hasValues && node.label !== '' && !node.total;
    while (stack.length > 0) {
      const top = stack.at(-1)!;
      const inside = node.offset > top.offset || (node.offset === top.offset && top.group && !group && top.childOffset !== null ? top.childOffset === node.offset : node.offset === top.offset && top.group && !group);
      if (inside) break;
      stack.pop();
    }
    const top = stack.at(-1);
    node.parent = top?.node ?? -1;
    if (top && top.childOffset === null) top.childOffset = node.offset;
    // Totals sum what is there; nothing stands under them.
    if (!node.total && node.label !== '') stack.push({ node: k, offset: node.offset, group, childOffset: null });
  });
}
