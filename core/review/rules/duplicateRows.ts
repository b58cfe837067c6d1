import type { Draft } from '../finding.ts';
import type { Reviewed, Value } from '../region.ts';
import { magnitude } from '../statistics.ts';

/** Two values of a wider table come together again by themselves. */
const manyCells = 3;

/** Rows that say the same twice. Numbers that count the rows are left out of the comparison. */
export function findDuplicateRows({ region, labels }: Reviewed): Draft[] {
  const columns = region.columns.flatMap(({ values }, k) => (isCounting(values) ? [] : [k]));
  const groups = new Map<string, number[]>();
  for (let row = 0; row < region.rowCount; row += 1) {
    const cells = columns.map((k) => region.columns[k]?.values[row] ?? null);
    if (cells.filter((value) => value !== null).length < 2) continue;
    const key = JSON.stringify(cells);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  const repeated = [...groups.values()].filter((rows) => rows.length > 1);
  // Where many rows come again, that is how the table is: counts of things that have no name.
  const isRare = repeated.reduce((sum, rows) => sum + rows.length - 1, 0) <= Math.max(1, region.rowCount * 0.01);
  const [first] = columns;
  if (first === undefined) return [];
  const describe = (rows: number[], isSure: boolean): Draft => {
    const cells = columns.flatMap((k) => region.columns[k]?.values[rows[0] as number] ?? []);
    const label = labels[rows[0] as number] || 'A row';
    return {
      severity: isSure && isTelling(cells) && (cells.length >= Math.min(manyCells, columns.length) || isCopied(rows)) ? 'error' : 'warning',
      message: `${label} stands there ${rows.length} times with the same ${cells.length} values.`,
      spots: rows.flatMap((row) => columns.filter((k) => region.columns[k]?.values[row] !== null).map((column) => ({ row, column }))),
      suggestedFix: 'Keep one of the rows if they mean the same thing.',
    };
  };
  if (isRare) return repeated.map((rows) => describe(rows, true));
  const extra = repeated.reduce((sum, rows) => sum + rows.length - 1, 0);
  const copied = repeated.filter(isCopied);
  return [
    {
      severity: 'info',
      message: `${extra} of ${region.rowCount} rows say the same as another row.`,
      spots: repeated.slice(0, 10).map(([row = 0]) => ({ row, column: first })),
      suggestedFix: 'If each row should be there once, keep one of each.',
    },
    ...(copied.length <= Math.max(1, region.rowCount * 0.01) ? copied.map((rows) => describe(rows, false)) : []),
  ];
}

/** One right below the other is what copying leaves; elsewhere rows are alike because things are. */
function isCopied(rows: number[]): boolean {
  return rows.some((row, k) => rows[k + 1] === row + 1);
}

/** 1, 2, 3, …: numbers of rows. Years rise by one as well, but say something. */
function isCounting(values: Value[]): boolean {
  return values.length > 2 && (values[0] === 0 || values[0] === 1) && values.every((value, row) => value === (values[0] as number) + row);
}

/** Six digits that agree are no chance: the numbers, or a name besides a number. */
function isTelling(cells: Value[]): boolean {
  let digits = 0;
  for (const value of cells) {
    if (typeof value === 'number')
      digits += value === 0 ? 0 : Math.max(1, String(Math.abs(value)).replace(/\D/g, '').length, magnitude(value));
    else if (value !== null) digits += Math.min(4, value.length / 2);
  }
  return digits >= 6;
}
