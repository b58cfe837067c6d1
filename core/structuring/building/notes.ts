/** Titles, units, notes and form pairs of a sheet: the table `<sheet>_補足情報`, or `<sheet>_notes`. */

import { formatRange, parseRange } from '../../a1/address.ts';
import type { Naming } from '../names/naming.ts';
import { isUnitLine } from '../names/words.ts';
import { readPairs } from '../regions/forms.ts';
import { readLines } from '../sheet/lines.ts';
import { key, type SheetView } from '../sheet/sheet.ts';
import type { SpecRegion } from '../spec/spec.ts';
import type { Ledger } from './ledger.ts';
import type { OutputTable } from './output.ts';

/** Position of the content among the columns. */
const CONTENT = 2;

export function buildNotes(view: SheetView, ledger: Ledger, regions: SpecRegion[], naming: Naming): OutputTable | null {
  const { noteKinds: kinds, noteColumns: columns } = naming;
  const rows: OutputTable['rows'] = [];
  const provenance: OutputTable['provenance'] = { offsets: [0], cells: [], columns: [] };
  const push = (kind: string, text: string, range: string, target: string, cells: number[]) => {
    rows.push([rows.length + 1, kind, text, range, target === '' ? null : target]);
    for (const cell of cells) {
      provenance.cells.push(cell);
      provenance.columns.push(CONTENT);
    }
    provenance.offsets.push(provenance.cells.length);
  };
  for (const region of regions) {
    const range = parseRange(region.range)!;
    for (const line of readLines(view, range)) {
      if (region.kind === 'form') {
        pushPairs(view, ledger, line, (text, where, cells) => push(kinds.pair, text, where, region.name, cells));
        continue;
      }
      const shown: string[] = [];
      const cells: number[] = [];
      for (let i = line.from; i < line.to; i += 1) {
        cells.push(i);
        ledger.place(i, region.kind === 'title' ? 'title' : 'note');
        const text = view.shown(i).trim();
        if (shown.at(-1) !== text) shown.push(text);
      }
      const text = shown.join(' ');
      push(region.kind === 'title' ? kinds.title : isUnitLine(text) ? kinds.unit : kinds.note, text, region.range, region.name, cells);
    }
  }
  if (rows.length === 0) return null;
  return {
    name: `${view.grid.sheet}${naming.notes}`,
    role: 'notes',
    sheet: view.grid.sheet,
    regionId: null,
    range: null,
    columns: [
      { name: columns.position, type: 'BIGINT' },
      { name: columns.kind, type: 'VARCHAR' },
      { name: columns.content, type: 'VARCHAR' },
      { name: columns.cell, type: 'VARCHAR' },
      { name: columns.table, type: 'VARCHAR' },
    ],
    rows,
    made: [0, 1, 2, 3, 4],
    provenance,
  };
}

function pushPairs(
  view: SheetView,
  ledger: Ledger,
  line: ReturnType<typeof readLines>[number],
  push: (text: string, range: string, cells: number[]) => void,
): void {
  const pairs = readPairs(view, line) ?? [
    { label: line.from, values: Array.from({ length: line.to - line.from - 1 }, (_, k) => line.from + 1 + k) },
  ];
  for (const pair of pairs) {
    ledger.place(pair.label, 'label');
    const left = view.grid.columns[pair.label]!;
    let right = left;
    for (const cell of [pair.label, ...pair.values]) {
      const column = view.grid.columns[cell]!;
      right = Math.max(right, view.mergeAt.get(key(line.row, column))?.right ?? column);
    }
    for (const value of pair.values) ledger.place(value, 'value');
    const label = view.label(pair.label).replace(/\s*[:：]$/, '');
    const shown = pair.values.map((value) => view.label(value)).join(' ');
    push(`${label}: ${shown}`, formatRange({ top: line.row, left, bottom: line.row, right }), [pair.label, ...pair.values]);
  }
}
