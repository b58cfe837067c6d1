/** Adds the parts up again and says where the file's own totals differ. */

import { nameCell, parseColumn } from '../../a1/address.ts';
import { formatGeneral } from '../../grid/format/decimal.ts';
import type { BuiltRegion } from '../building/buildTable.ts';
import { isRateName, isTotalLabel } from '../names/words.ts';
import type { ReportRow } from '../reports/report.ts';
import { isSameSum, sumTerms } from '../reports/sums.ts';
import { readMinutes } from '../sheet/cellValue.ts';
import type { SheetView } from '../sheet/sheet.ts';
import type { Finding } from '../spec/finding.ts';
import type { SpecRegion } from '../spec/spec.ts';
import { LISTED_CELLS } from '../thresholds.ts';

/** A stated total this far off is some other figure (an average, a price), not a wrong sum. */
const MAX_FACTOR = 2;

/** Cells of one total that are told one by one, each with both numbers. */
const MAX_SINGLE = 3;

export function findWrongTotals(view: SheetView, region: SpecRegion, built: BuiltRegion): Finding[] {
  const additive = built.rows.valueColumns.map((column) => isAdditive(view, region, built, column));
  const findings = built.report.rows.flatMap((row) => joinMany(checkRow(view, region, built, row, additive)));
  return [...findings, ...checkPeriodTotals(view, region, built, additive)];
}

/** A total that differs in many cells has one cause. */
function joinMany(wrong: Finding[]): Finding[] {
  if (wrong.length <= MAX_SINGLE) return wrong;
  const [first] = wrong as [Finding];
  const message = `${first.message}, and ${wrong.length - 1} more of its cells differ`;
  return [{ ...first, count: wrong.length, cells: wrong.slice(0, LISTED_CELLS).map(({ cell }) => cell), message }];
}

/** Percentages, rates and prices do not add up, and are not meant to. */
function isAdditive(view: SheetView, region: SpecRegion, built: BuiltRegion, column: number): boolean {
  const name = region.columns.find((entry) => parseColumn(entry.from) === column)?.name ?? '';
  if (isRateName(name)) return false;
  const first = built.rows.rows[0];
  const cell = first === undefined ? -1 : view.at(first, column);
  return cell < 0 || !view.style(cell).numberFormat.includes('%');
}

function checkRow(view: SheetView, region: SpecRegion, built: BuiltRegion, row: ReportRow, additive: boolean[]): Finding[] {
  if (row.terms.length === 0 || row.virtual || !row.hasValues) return [];
  if (!row.certain && (!isTotalLabel(row.label) || row.terms.length < 2)) return [];
  const { matrix, units, valueColumns } = built.rows;
  const at = (position: number) => built.report.rows[position]!.at;
  const wrong: Finding[] = [];
  let far = 0;
  valueColumns.forEach((column, c) => {
    const stated = matrix[row.at]![c];
    if (stated === null || stated === undefined || !additive[c]) return;
    const { sum, count } = sumTerms(matrix, row.terms, c, at);
    if (count === 0 || isSameSum(stated, sum, count, units[c]!)) return;
    if (!isNear(stated, sum)) far += 1;
    else wrong.push(makeFinding(view, region, [row.row, column], stated, sum, row.label));
  });
  // Nothing vouches for an uncertain total, so one figure that is far off says it is no sum.
  return !row.certain && far > 0 ? [] : wrong;
}

function isNear(stated: number, computed: number): boolean {
  return stated !== 0 && computed !== 0 && stated / computed < MAX_FACTOR && computed / stated < MAX_FACTOR && stated / computed > 0;
}

/** `年計` against the months beside it; only where it is their sum on most rows. */
function checkPeriodTotals(view: SheetView, region: SpecRegion, built: BuiltRegion, additive: boolean[]): Finding[] {
  const periods = region.periods ?? [];
  const findings: Finding[] = [];
  for (const total of periods.filter((period) => period.computed && isTotalLabel(period.label.split('_').at(-1)!))) {
    const at = built.rows.valueColumns.indexOf(parseColumn(total.from));
    if (at < 0 || !additive[at]) continue;
    const parts = periods
      .filter((period) => !period.computed && period.measure === total.measure)
      .map((period) => built.rows.valueColumns.indexOf(parseColumn(period.from)));
    if (parts.includes(-1)) continue;
    const wrong: Finding[] = [];
    let right = 0;
    built.rows.matrix.forEach((values, k) => {
      const stated = values[at];
      const known = parts.map((part) => values[part]).filter((value): value is number => typeof value === 'number');
      if (stated === null || stated === undefined || known.length === 0) return;
      const sum = known.reduce((a, b) => a + b, 0);
      if (isSameSum(stated, sum, known.length, built.rows.units[at]!)) right += 1;
      else if (isNear(stated, sum))
        wrong.push(makeFinding(view, region, [built.rows.rows[k]!, built.rows.valueColumns[at]!], stated, sum, total.label));
    });
    if (right > wrong.length) findings.push(...joinMany(wrong));
  }
  return findings;
}

function makeFinding(
  view: SheetView,
  region: SpecRegion,
  [row, column]: [row: number, column: number],
  stated: number,
  sum: number,
  label: string,
): Finding {
  const computed = Number(sum.toPrecision(12));
  const i = view.at(row, column);
  const isTime = i >= 0 && readMinutes(view.grid, i) !== null;
  const show = isTime ? showMinutes : formatGeneral;
  return {
    kind: 'total_mismatch',
    sheet: view.grid.sheet,
    table: region.name,
    cell: nameCell(row, column),
    // A workbook stores lengths of time in days.
    stated: isTime ? stated / DAY_MINUTES : stated,
    computed: isTime ? computed / DAY_MINUTES : computed,
    message: `${label}: the sheet says ${show(stated)}, its parts add up to ${show(computed)}`,
  };
}

const DAY_MINUTES = 1440;

/** `157:30` of minutes. */
function showMinutes(minutes: number): string {
  return `${Math.floor(minutes / 60)}:${formatGeneral(minutes % 60).padStart(2, '0')}`;
}
