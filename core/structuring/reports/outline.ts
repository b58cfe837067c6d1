/** The outline of a table: which row stands under which, before any arithmetic. */

import { isComputedLabel, isProfitLabel, isTotalLabel, isWholeLabel } from '../names/words.ts';
import type { SheetView } from '../sheet/sheet.ts';
import { GROUP_NAMED_SHARE, MAX_NUMBERED_ROWS } from '../thresholds.ts';
import type { TableRows } from './tableRows.ts';

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
  /** `All industries`, `全国`: a total only where the numbers bear it out. */
  whole: boolean;
  ratio: boolean;
  parent: number;
}

/** One label column further right weighs more than any indent. */
const COLUMN_STEP = 1000;

export function readOutline(view: SheetView, table: TableRows): OutlineNode[] {
  const depths = new Map(pickLabelColumns(view, table).map((column, k) => [column, k]));
  const values = new Set(table.valueColumns);
  const nodes: OutlineNode[] = [];
  const words = new Map<number, LabelWords>();
  table.rows.forEach((row, at) => {
    readRow(view, table.spans[at]!, depths, values, row, at, nodes, words);
  });
  indentByNumbering(nodes);
  linkParents(nodes);
  return nodes;
}

/**
 * Of several label columns the one with the most different labels is the main one. Columns to its left are levels
 * when they repeat or stay blank; columns to its right only when they take turns with it, one label a row.
 */
export function pickLabelColumns(view: SheetView, table: TableRows): number[] {
  const columns = table.labelColumns;
  if (columns.length < 2) return columns;
  const counts = countLabels(view, table);
  let main = 0;
  for (let k = 1; k < columns.length; k += 1) if (counts.distinct[k]!.size > counts.distinct[main]!.size) main = k;
  // A label further right that stands beside most blanks of this one is the label of the row; this one names its group.
  for (let k = main + 1; k < columns.length; k += 1) if (counts.filled[main]! < counts.filled[k]! * GROUP_NAMED_SHARE) main = k;
  const takesTurns = (k: number) => counts.together[k]! * 5 <= counts.filled[k]! + counts.filled[k + 1]!;
  let last = main;
  while (last + 1 < columns.length && counts.filled[last + 1]! > 0 && takesTurns(last)) last += 1;
  let first = main;
  while (
    first > 0 &&
    counts.filled[first - 1]! > 0 &&
    (takesTurns(first - 1) || counts.distinct[first - 1]!.size <= 0.7 * counts.filled[main]!)
  )
    first -= 1;
  return columns.slice(first, last + 1);
}

interface LabelCounts {
  filled: number[];
  distinct: Set<number>[];
  /** Rows where a label column and the next one are both filled. */
  together: number[];
}

function countLabels(view: SheetView, table: TableRows): LabelCounts {
  const position = new Map(table.labelColumns.map((column, k) => [column, k]));
  const counts: LabelCounts = {
    filled: table.labelColumns.map(() => 0),
    distinct: table.labelColumns.map(() => new Set()),
    together: table.labelColumns.map(() => 0),
  };
  for (const [from, to] of table.spans) {
    let before = -1;
    for (let i = from; i < to; i += 1) {
      const k = position.get(view.grid.columns[i]!);
      if (k === undefined) continue;
      counts.filled[k] = counts.filled[k]! + 1;
      counts.distinct[k]!.add(view.grid.texts[i]!);
      if (before === k - 1 && before >= 0) counts.together[before] = counts.together[before]! + 1;
      before = k;
    }
  }
  return counts;
}

interface LabelWords {
  label: string;
  total: boolean;
  whole: boolean;
  ratio: boolean;
}

/** Labels repeat down a table; each distinct one is read once. */
function readWords(view: SheetView, cell: number, known: Map<number, LabelWords>): LabelWords {
  const id = view.grid.texts[cell]!;
  const found = id < 0 ? undefined : known.get(id);
  if (found) return found;
  const label = view.label(cell);
  const words = { label, total: isTotalLabel(label), whole: isWholeLabel(label), ratio: isComputedLabel(label) };
  if (id >= 0) known.set(id, words);
  return words;
}

/** A row without a label of its own may have the word `Total` beside its figure instead. */
function hasTotalWord(view: SheetView, from: number, to: number, words: Map<number, LabelWords>): boolean {
  for (let i = from; i < to; i += 1) if (view.isText(i)) return readWords(view, i, words).total;
  return false;
}

/** Styles of numbering; which is the outer one shows in the order they come. */
const NUMBERINGS = [
  /^[Ⅰ-Ⅻ]/u,
  /^[IVX]{1,4}[.．、\s]/,
  /^[0-9０-９]{1,2}[.．、]\s*\D/,
  /^[(（][0-9０-９]{1,2}[)）]/,
  /^[①-⑳]/u,
  /^[ァ-ン][.．)）]/u,
  /^[A-Za-z][.．)]\s/,
  /^[(（][A-Za-zァ-ン][)）]/u,
];

/** Numbered labels without indents: `Ⅰ`, `1.`, `(1)` in the order they first come are the levels. */
function indentByNumbering(nodes: OutlineNode[]): void {
  const labelled = nodes.filter((node) => node.label !== '');
  if (labelled.length > MAX_NUMBERED_ROWS || labelled.some((node) => node.offset !== labelled[0]!.offset)) return;
  const order: number[] = [];
  const styles = labelled.map((node) => NUMBERINGS.findIndex((style) => style.test(node.label)));
  for (const style of styles) if (style >= 0 && !order.includes(style)) order.push(style);
  if (order.length < 2 || styles.filter((style) => style >= 0).length * 2 < labelled.length) return;
  let last = 0;
  labelled.forEach((node, k) => {
    const style = styles[k]!;
    // Results carry no number and stand on the outermost level; other labels go with the one before.
    last = style >= 0 ? order.indexOf(style) : node.total || isProfitLabel(node.label) ? 0 : last;
    node.offset += last;
  });
}

/** The rows of a list: one node each, labelled by its total word where it has one. */
export function readList(view: SheetView, table: TableRows): OutlineNode[] {
  const labels = new Set(table.labelColumns);
  const values = new Set(table.valueColumns);
  const words = new Map<number, LabelWords>();
  return table.rows.map((row, at) => {
    const node = makeNode(at, row, 0, '', -1, false, false, false, false, false, false, false);
    const [from, to] = table.spans[at]!;
    for (let i = from; i < to; i += 1) {
      if (values.has(view.grid.columns[i]!)) node.hasValues = true;
      if (node.total || !labels.has(view.grid.columns[i]!)) continue;
      const { label, total, whole, ratio } = readWords(view, i, words);
      if (node.labelCell >= 0 && !total) continue;
      node.label = label;
      node.total = total;
      node.whole = whole;
      node.ratio = ratio;
      node.labelCell = i;
    }
    if (node.labelCell < 0) node.total = hasTotalWord(view, from, to, words);
    return node;
  });
}

function readRow(
  view: SheetView,
  [from, to]: [number, number],
  depths: Map<number, number>,
  valueColumns: Set<number>,
  row: number,
  at: number,
  nodes: OutlineNode[],
  words: Map<number, LabelWords>,
): void {
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
  if (own.length === 0) {
    const total = hasTotalWord(view, from, to, words);
    nodes.push(makeNode(at, row, depths.size * COLUMN_STEP, '', -1, false, values > 0, others === 0, false, total, false, false));
    return;
  }
  own.forEach((cell, k) => {
    const { label, total, whole, ratio } = readWords(view, cell, words);
    const depth = depths.get(view.grid.columns[cell]!)!;
    const virtual = k < own.length - 1;
    if (virtual && repeatsAbove(nodes, label, depth)) return;
    const offset = depth * COLUMN_STEP + view.indent(cell);
    const { bold } = view.style(cell);
    if (virtual) nodes.push(makeNode(at, row, offset, label, cell, true, false, true, bold, false, false, false));
    else nodes.push(makeNode(at, row, offset, label, cell, false, values > 0, others === 0, bold, total, whole, ratio));
  });
}

/** Written out field by field: a spread for each row of a long table is what costs most here. */
function makeNode(
  at: number,
  row: number,
  offset: number,
  label: string,
  labelCell: number,
  virtual: boolean,
  hasValues: boolean,
  alone: boolean,
  bold: boolean,
  total: boolean,
  whole: boolean,
  ratio: boolean,
): OutlineNode {
  return { at, row, label, labelCell, virtual, hasValues, alone, offset, bold, total, whole, ratio, parent: -1 };
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
    // Without a label nothing says where a row stands: it stays beside the one before it.
    if (node.label === '') {
      node.parent = nodes[k - 1]?.parent ?? -1;
      return;
    }
    const group = node.alone && !node.hasValues && node.label !== '' && !node.total;
    while (stack.length > 0) {
      const top = stack.at(-1)!;
      const inside =
        node.offset > top.offset ||
        (node.offset === top.offset && top.group && !group && top.childOffset !== null
          ? top.childOffset === node.offset
          : node.offset === top.offset && top.group && !group);
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
