/** Titles, units, notes and form pairs of a sheet: the table `<sheet>_補足情報`. */

import { formatRange, parseRange } from './a1.js';
import { readPairs } from './forms.js';
import type { Ledger } from './ledger.js';
import { readLines } from './lines.js';
import type { OutputTable } from './output.js';
import { key, type SheetView } from './sheet.js';
import type { SpecRegion } from './spec.js';
import { isUnitLine } from './words.js';

export function buildNotes(view: SheetView, ledger: Ledger, regions: SpecRegion[], name: string): OutputTable | null {
  const rows: OutputTable['rows'] = [];
  const cells: string[][] = [];
  const push = (kind: string, text: string, range: string, target: string) => {
    rows.push([rows.length + 1, kind, text, range, target === '' ? null : target]);
    cells.push([range]);
  };
  for (const region of regions) {
    const range = parseRange(region.range)!;
    for (const line of readLines(view, range)) {
      if (region.kind === 'form') {
        pushPairs(view, ledger, line, (text, where) => push('項目', text, where, region.name));
        continue;
      }
      const shown: string[] = [];
      for (let i = line.from; i < line.to; i += 1) {
        ledger.place(i, region.kind === 'title' ? 'title' : 'note');
        const text = view.shown(i).replace(/^[\s\u00a0\u3000]+|[\s\u00a0\u3000]+$/g, '');
        if (shown.at(-1) !== text) shown.push(text);
      }
      const text = shown.join(' ');
      push(region.kind === 'title' ? 'タイトル' : isUnitLine(text) ? '単位' : '注記', text, region.range, region.name);
    }
  }
  if (rows.length === 0) return null;
  return {
    name,
    role: 'notes',
    sheet: view.grid.sheet,
    regionId: null,
    columns: [
      { name: '順序', type: 'BIGINT' },
      { name: '種別', type: 'VARCHAR' },
      { name: '内容', type: 'VARCHAR' },
      { name: 'セル', type: 'VARCHAR' },
      { name: '対象テーブル', type: 'VARCHAR' },
    ],
    rows,
    cells,
  };
}

function pushPairs(view: SheetView, ledger: Ledger, line: ReturnType<typeof readLines>[number], push: (text: string, range: string) => void): void {
  const pairs = readPairs(view, line) ?? [{ label: line.from, values: Array.from({ length: line.to - line.from - 1 }, (_, k) => line.from + 1 + k) }];
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
    push(`${label}: ${shown}`, formatRange({ top: line.row, left, bottom: line.row, right }));
  }
}
