/** What the columns of a table had to leave out or give up: marks that became NULL, and the cells that made numbers text. */

import { nameCell } from '../../a1/address.ts';
import type { OutputTable, ValueList } from '../building/output.ts';
import { CellValues } from '../sheet/cellValues.ts';
import { CellClass, type SheetView } from '../sheet/sheet.ts';
import type { Finding } from '../spec/finding.ts';
import { COLUMN_CLASS_SHARE, COLUMN_SAMPLE_ROWS, LISTED_CELLS } from '../thresholds.ts';

export function findColumnLosses(view: SheetView, table: OutputTable): Finding[] {
  if (table.role !== 'data' && table.role !== 'level') return [];
  const columns = countColumns(table);
  const lossy = columns.map(({ filled, known }, c) => table.columns[c]!.type !== 'VARCHAR' && filled > known);
  const texts = columns.map((_, c) => table.columns[c]!.type === 'VARCHAR' && !table.made.includes(c));
  dropPlainTexts(view, table, texts);
  if (!lossy.includes(true) && !texts.includes(true)) return [];
  const marks: number[] = [];
  const split = columns.map(() => ({ numbers: 0, others: [] as number[] }));
  const { offsets, cells, columns: targets } = table.provenance;
  for (let n = 0; n < table.rowCount; n += 1)
    for (let at = offsets[n]!; at < offsets[n + 1]!; at += 1) {
      const [cell, column] = [cells[at]!, targets[at]!];
      if (lossy[column] && isNull(table.values[column]!, n)) marks.push(cell);
      else if (texts[column]) {
        sortCell(view, cell, split[column]!);
        // Too few can be numbers by now: the rest of it need not be looked at.
        if (split[column]!.others.length > columns[column]!.filled * (1 - COLUMN_CLASS_SHARE)) texts[column] = false;
      }
    }
  const findings: Finding[] = [];
  if (marks.length > 0) {
    const shown = [...new Set(marks.map((cell) => view.label(cell)))].slice(0, 3).join(', ');
    findings.push(makeFinding(view, table, 'missing_mark', marks, `hold a mark (${shown}) where the column holds values, and are NULL`));
  }
  split.forEach(({ numbers, others }, c) => {
    if (!texts[c] || others.length === 0 || numbers < (numbers + others.length) * COLUMN_CLASS_SHARE) return;
    const message = `(${view.label(others[0]!)}) make the column ${table.columns[c]!.name} text, which holds ${numbers} numbers`;
    findings.push(makeFinding(view, table, 'forced_text', others, message));
  });
  return findings;
}

/** Steps of this share of the rows meet them without a rhythm, whatever rhythm the rows have. */
const GOLDEN_SHARE = (Math.sqrt(5) - 1) / 2;

/** Long columns without a single number among many cells from all over are text in earnest, and need no closer look. */
function dropPlainTexts(view: SheetView, table: OutputTable, texts: boolean[]): void {
  const { rowCount, provenance } = table;
  if (rowCount < 10 * COLUMN_SAMPLE_ROWS) return;
  const split = texts.map(() => ({ numbers: 0, others: [] as number[] }));
  for (let k = 1; k <= COLUMN_SAMPLE_ROWS; k += 1) {
    const row = Math.floor(((k * GOLDEN_SHARE) % 1) * rowCount);
    for (let at = provenance.offsets[row]!; at < provenance.offsets[row + 1]!; at += 1) {
      const column = provenance.columns[at]!;
      if (texts[column]) sortCell(view, provenance.cells[at]!, split[column]!);
    }
  }
  split.forEach(({ numbers, others }, c) => {
    if (numbers === 0 && others.length > COLUMN_SAMPLE_ROWS / 2) texts[c] = false;
  });
}

function isNull(list: ValueList, n: number): boolean {
  return list instanceof CellValues ? list.isNull(n) : list[n] === null;
}

/** How many cells each column was given, and how many of them are values. */
function countColumns(table: OutputTable): { filled: number; known: number }[] {
  const counts = table.columns.map(() => ({ filled: 0, known: 0 }));
  const { columns } = table.provenance;
  for (let at = 0; at < columns.length; at += 1) counts[columns[at]!]!.filled += 1;
  table.values.forEach((list, c) => {
    counts[c]!.known = list instanceof CellValues ? list.countKnown() : list.filter((value) => value !== null).length;
  });
  return counts;
}

function sortCell(view: SheetView, cell: number, split: { numbers: number; others: number[] }): void {
  const kind = view.classOf(cell);
  if (kind === CellClass.number || kind === CellClass.year) split.numbers += 1;
  else if (kind !== CellClass.nullMark) split.others.push(cell);
}

function makeFinding(view: SheetView, table: { name: string }, kind: Finding['kind'], found: number[], message: string): Finding {
  const cells = found.slice(0, LISTED_CELLS).map((cell) => nameCell(view.grid.rows[cell]!, view.grid.columns[cell]!));
  const count = found.length;
  return {
    kind,
    sheet: view.grid.sheet,
    table: table.name,
    cell: cells[0]!,
    ...(count > 1 ? { count, cells } : {}),
    stated: null,
    computed: null,
    message: `${count} ${count === 1 ? 'cell' : 'cells'} ${message}`,
  };
}
