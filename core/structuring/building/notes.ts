/** Titles, units, notes and form pairs of a sheet: the table `<sheet>_補足情報`, or `<sheet>_notes`. */

import { formatRange, parseRange } from '../../a1/address.ts';
import { convertValue, inferColumn, type StoredValue } from '../../types/infer.ts';
import type { Naming } from '../names/naming.ts';
import { isUnitLine } from '../names/words.ts';
import { readFormLine, readPairs } from '../regions/forms.ts';
import { type Line, readLines } from '../sheet/lines.ts';
import { key, type SheetView } from '../sheet/sheet.ts';
import type { SpecRegion } from '../spec/spec.ts';
import type { Ledger } from './ledger.ts';
import { byColumn, type OutputTable } from './output.ts';

/** Position of the content among the columns. */
const CONTENT = 2;

export function buildNotes(view: SheetView, ledger: Ledger, regions: SpecRegion[], naming: Naming): OutputTable | null {
  const { noteKinds: kinds, noteColumns: columns } = naming;
  const rows: StoredValue[][] = [];
  const provenance = { offsets: [0], cells: [] as number[], columns: [] as number[] };
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
    ...byColumn(rows, 5),
    made: [0, 1, 2, 3, 4],
    provenance,
  };
}

function pushPairs(view: SheetView, ledger: Ledger, line: Line, push: (text: string, range: string, cells: number[]) => void): void {
  for (const { label, values, range } of placePairs(view, ledger, line)) {
    const name = view.label(label).replace(/\s*[:：]$/, '');
    const shown = values.map((value) => view.label(value)).join(' ');
    // The second line of an address is no name that lacks its value.
    push(shown === '' && label === line.from && readPairs(view, line) === null ? name : `${name}: ${shown}`, range, [label, ...values]);
  }
}

interface PlacedPair {
  label: number;
  values: number[];
  range: string;
}

/** The pairs of a form's line, with the cells they take; a line without a label is a pair all the same. */
function placePairs(view: SheetView, ledger: Ledger, line: Line): PlacedPair[] {
  return readFormLine(view, line).map(({ label, values }) => {
    ledger.place(label, 'label');
    for (const value of values) ledger.place(value, 'value');
    const left = view.grid.columns[label]!;
    let right = left;
    for (const cell of [label, ...values]) {
      const column = view.grid.columns[cell]!;
      right = Math.max(right, view.mergeAt.get(key(line.row, column))?.right ?? column);
    }
    return { label, values, range: formatRange({ top: line.row, left, bottom: line.row, right }) };
  });
}

/** Position of the value among the columns of the fields. */
const FIELD_LABEL = 1;
const FIELD_VALUE = 2;

/**
 * The forms of a sheet as fields with typed values, where there is more to keep than texts beside texts: then `label: value`
 * among the notes says it all, and this is null.
 */
export function buildFields(view: SheetView, ledger: Ledger, forms: SpecRegion[], naming: Naming): OutputTable | null {
  const lines = forms.flatMap((region) => readLines(view, parseRange(region.range)!).map((line) => ({ region, line })));
  if (!lines.some(({ line }) => holdsTyped(view, line))) return null;
  const rows: StoredValue[][] = [];
  const provenance = { offsets: [0], cells: [] as number[], columns: [] as number[] };
  for (const { region, line } of lines)
    for (const { label, values, range } of placePairs(view, ledger, line)) {
      const { type, value } = readField(view, values);
      rows.push([rows.length + 1, view.label(label), value, type, range, region.name === '' ? null : region.name]);
      provenance.cells.push(label, ...values);
      provenance.columns.push(FIELD_LABEL, ...values.map(() => FIELD_VALUE));
      provenance.offsets.push(provenance.cells.length);
    }
  const { position, label, value, type, cell, table } = naming.fieldColumns;
  return {
    name: `${view.grid.sheet}${naming.fields}`,
    role: 'notes',
    sheet: view.grid.sheet,
    regionId: null,
    range: null,
    columns: [{ name: position, type: 'BIGINT' }, ...[label, value, type, cell, table].map((name) => ({ name, type: 'VARCHAR' }))],
    ...byColumn(rows, 6),
    made: [0, 1, 2, 3, 4, 5],
    provenance,
  };
}

/** A value that is no text, or a label with its colon, which would read twice before the value. */
function holdsTyped(view: SheetView, line: Line): boolean {
  const pairs = readPairs(view, line) ?? [];
  return pairs.some(
    ({ label, values }) => values.length > 0 && (/[:：]$/.test(view.label(label)) || values.some((value) => !view.isText(value))),
  );
}

function readField(view: SheetView, values: number[]): { type: string; value: string | null } {
  const [only] = values;
  if (only === undefined) return { type: 'VARCHAR', value: null };
  if (values.length > 1) return { type: 'VARCHAR', value: values.map((value) => view.label(value)).join(' ') };
  const column = inferColumn([view.value(only)]);
  const stored = convertValue(view.value(only), column);
  return { type: column.type, value: stored === null ? view.label(only) : String(stored) };
}
