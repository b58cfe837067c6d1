/** Finds the rows that are computed from others: sums below, sums above, differences. */

import { isProfitLabel, isResultLabel, isRunningTotal, isSubtotalLabel } from '../names/words.ts';
import type { SheetView } from '../sheet/sheet.ts';
import {
  MAX_DIFFERENCE_TERMS,
  MAX_GRAND_TOTALS,
  MAX_SUM_ROWS,
  MAX_UNMARKED_PARTS,
  MAX_UNMARKED_ROWS,
  MAX_UNNAMED_ROWS,
  RESULT_DIGITS,
  STRONG_DIGITS,
} from '../thresholds.ts';
import { linkBalances } from './balances.ts';
import { linkDerivedFormulas } from './derivedFormulas.ts';
import { listGroups } from './groups.ts';
import { linkQuotients } from './quotients.ts';
import type { ReportRow, ReportWork } from './report.ts';
import { linkMeans, linkStatistics } from './statistics.ts';
import { checkSum, readSumFormula, type SumCheck, type Term } from './sums.ts';
import type { TableRows } from './tableRows.ts';

export function linkComputed(view: SheetView, table: TableRows, rows: ReportRow[], isList: boolean): void {
  const positions = new Map<number, number>();
  rows.forEach((row, k) => {
    if (!row.virtual) positions.set(row.row, k);
  });
  const valueColumns = new Set(table.valueColumns);
  const context: ReportWork = {
    view,
    table,
    rows,
    positions,
    valueColumns,
    grandTries: 0,
    bareTries: 0,
    repeated: listRepeated(rows),
    isList,
  };
  for (let k = 0; k < rows.length; k += 1) linkByFormula(context, k);
  linkGroups(context);
  for (let k = 0; k < rows.length; k += 1) linkParentSum(context, k);
  if (!isList && rows.length <= MAX_UNMARKED_ROWS) linkUnmarkedParents(context);
  for (let k = 0; k < rows.length; k += 1) linkTotalWord(context, k);
  const parents = new Set(rows.map((row) => row.parent));
  if (!isList && rows.some((row) => row.certain || row.parent >= 0 || isProfitLabel(row.label)))
    for (let k = 0; k < rows.length; k += 1) linkDifference(context, k, parents.has(k));
  if (!isList) for (let k = 0; k < rows.length; k += 1) if (!parents.has(k)) markResult(context, k);
  if (!isList) linkBalances(context);
  linkDerivedFormulas(context);
  linkStatistics(context);
  if (!isList) linkMeans(context);
  if (!isList) linkQuotients(context);
  let afterTotal = false;
  for (const row of rows) {
    // Averages and ratios right below a total are computed like it.
    if (afterTotal && row.role === 'detail' && row.ratio && row.hasValues && !row.certain) row.role = 'computed';
    // So is what stands below a total without a label of its own, such as a tax.
    if (afterTotal && row.role === 'detail' && row.labelCell < 0 && row.hasValues) row.role = 'computed';
    if (row.role === 'subtotal') afterTotal = true;
    else if (row.role === 'detail' && row.labelCell >= 0 && !row.ratio) afterTotal = false;
  }
}

function listRepeated(rows: ReportRow[]): Set<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { label, hasValues } of rows) {
    if (!hasValues || label === '') continue;
    if (seen.has(label)) repeated.add(label);
    seen.add(label);
  }
  return repeated;
}

function matches(check: SumCheck): boolean {
  return check.weighty > 0 && check.holds * 2 > check.compared;
}

/** Translates positions of report rows into positions of data rows, which index the matrix. */
function checkTerms(context: ReportWork, k: number, terms: Term[]): SumCheck {
  const { table, rows } = context;
  return checkSum(table.matrix, table.units, rows[k]!.at, terms, (position) => rows[position]!.at);
}

/** Formulas of one row must agree over the columns: the first that is a plain sum decides. */
function linkByFormula(context: ReportWork, k: number): void {
  const { view, table, rows, positions } = context;
  const row = rows[k]!;
  if (row.virtual || !row.hasValues) return;
  const [from, to] = table.spans[row.at]!;
  for (let i = from; i < to; i += 1) {
    const formula = view.formula(i);
    const column = view.grid.columns[i]!;
    if (formula === null || !context.valueColumns.has(column)) continue;
    const read = readSumFormula(formula, column, view.sums);
    if (!read) continue;
    const terms: Term[] = [];
    for (const term of read) {
      const position = positions.get(term.row);
      // Blank rows inside a range add nothing.
      if (position !== undefined && position !== k) terms.push({ row: position, sign: term.sign });
    }
    if (terms.length === 0 || (read.length === 1 && terms.length === 1 && !row.total)) continue;
    row.terms = terms;
    row.certain = true;
    placeBySum(context, k);
    return;
  }
}

/** A row beside rows that people grouped in the workbook is their sum when the numbers say so, whatever it is called. */
function linkGroups(context: ReportWork): void {
  const { rows, view } = context;
  if (!view.grid.rowOutlines?.size) return;
  const isPart = (k: number) => rows[k]!.hasValues && !rows[k]!.virtual;
  const sums: number[] = [];
  for (const { parts, all, beside } of listGroups(rows, view.grid.rowOutlines)) {
    const tries = [parts.filter(isPart), all.filter((k) => isPart(k) && !rows[k]!.certain)];
    const found = beside
      .filter((k) => rows[k]!.hasValues && !rows[k]!.certain)
      .flatMap((k) => tries.map((own) => ({ k, terms: own.map((row): Term => ({ row, sign: 1 })) })))
      .find(({ k, terms }) => terms.length > 1 && matches(checkTerms(context, k, terms)));
    if (!found) continue;
    const row = rows[found.k]!;
    row.terms = found.terms;
    row.certain = true;
    // Records of a list have no parents: what sums some of them is no record.
    if (context.isList) makeComputed(row, 'subtotal');
    else placeBySum(context, found.k);
    sums.push(found.k);
  }
  // What sums all groups stands outside of them.
  if (sums.length < 2) return;
  sums.sort((a, b) => a - b);
  const terms = sums.map((row): Term => ({ row, sign: 1 }));
  for (const k of [sums[0]! - 1, sums.at(-1)! + 1]) {
    if (!rows[k]?.hasValues || rows[k]!.certain || !matches(checkTerms(context, k, terms))) continue;
    rows[k]!.terms = terms;
    rows[k]!.certain = true;
    makeComputed(rows[k]!, 'subtotal');
  }
}

/** `EBITDA`, `Net income` where every figure is a formula: a result, however it is computed. */
function markResult(context: ReportWork, k: number): void {
  const { view, table, rows } = context;
  const row = rows[k]!;
  if (row.certain || row.role !== 'detail' || !row.hasValues || row.virtual || !isResultLabel(row.label)) return;
  const [from, to] = table.spans[row.at]!;
  for (let i = from; i < to; i += 1) if (context.valueColumns.has(view.grid.columns[i]!) && view.formula(i) === null) return;
  row.role = 'computed';
}

/** Where a row stands that sums others: above its children as their parent, or beside them as a computed item. */
function placeBySum(context: ReportWork, k: number): void {
  const { rows } = context;
  const row = rows[k]!;
  if (row.terms.some((term) => term.sign < 0)) {
    makeComputed(row, 'computed');
    return;
  }
  const parts = row.terms.map((term) => term.row);
  const below = parts.every((part) => part > k);
  const deeper = parts.every((part) => rows[part]!.offset > row.offset);
  if ((below || deeper) && !row.total) {
    // Already its children by indent, or made so by what it sums.
    for (const part of parts)
      if (!isUnder(rows, k, part) && (rows[part]!.parent === row.parent || rows[part]!.parent < 0)) rows[part]!.parent = k;
    return;
  }
  if (below && row.total && parts.every((part) => rows[part]!.parent === k)) return;
  makeComputed(row, 'subtotal');
  row.parent = commonParent(rows, parts, row.parent, k);
}

function makeComputed(row: ReportRow, role: 'subtotal' | 'computed'): void {
  row.role = role;
}

function isUnder(rows: ReportRow[], k: number, ancestor: number): boolean {
  for (let p = rows[k]!.parent, n = 0; p >= 0 && n < rows.length; p = rows[p]!.parent, n += 1) if (p === ancestor) return true;
  return false;
}

/** The parent of a total: the parent of all its parts, or their nearest common ancestor. */
function commonParent(rows: ReportRow[], parts: number[], fallback: number, self: number): number {
  const parents = new Set(parts.map((part) => rows[part]!.parent));
  if (parents.size === 1) {
    const only = [...parents][0]!;
    return only === self ? fallback : only;
  }
  let common: number[] | null = null;
  for (const part of parts) {
    const chain = chainOf(rows, part);
    common = common === null ? chain : common.filter((node) => chain.includes(node));
  }
  const found = common?.[0] ?? -1;
  return found === self ? fallback : found;
}

function chainOf(rows: ReportRow[], k: number): number[] {
  const chain: number[] = [];
  for (let p = rows[k]!.parent; p >= 0 && chain.length < 50; p = rows[p]!.parent) chain.push(p);
  return chain;
}

/** A row with rows indented under it is their sum when the numbers say so. */
function linkParentSum(context: ReportWork, k: number): void {
  const { rows } = context;
  const row = rows[k]!;
  if (row.certain || !row.hasValues || row.total) return;
  const children: number[] = [];
  for (let j = k + 1; j < rows.length && children.length < MAX_SUM_ROWS; j += 1) {
    if (rows[j]!.parent === k) {
      if (rows[j]!.hasValues && !rows[j]!.total && rows[j]!.role === 'detail') children.push(j);
    } else if (rows[j]!.parent < k) break;
  }
  if (children.length === 0) return;
  const terms: Term[] = children.map((child) => ({ row: child, sign: 1 }));
  if (!matches(checkTerms(context, k, terms))) return;
  row.terms = terms;
  row.certain = true;
}

/**
 * Finds parents that only the numbers show: a row that equals the sum of the rows right below it. Works from the bottom up, so
 * that rows which already have a parent are skipped together with their children.
 */
function linkUnmarkedParents(context: ReportWork): void {
  const { rows, table } = context;
  const end = rows.map((_, k) => k + 1);
  for (let k = rows.length - 1; k >= 0; k -= 1) {
    const row = rows[k]!;
    if (row.virtual || !row.hasValues || row.certain || row.total || row.ratio || rows[k + 1]?.parent === k) continue;
    if (context.repeated.has(row.label)) continue;
    const probe = table.matrix[row.at]!.findIndex((value) => value !== null && value !== 0);
    if (probe < 0) continue;
    const goal = table.matrix[row.at]![probe]!;
    const parts: Term[] = [];
    let sum = 0;
    for (let j = k + 1; j < rows.length && parts.length < MAX_UNMARKED_PARTS; j = end[j]!) {
      const part = rows[j]!;
      if (part.offset !== row.offset || part.parent !== row.parent || !part.hasValues || part.total || part.role !== 'detail') break;
      parts.push({ row: j, sign: 1 });
      sum += table.matrix[part.at]![probe] ?? 0;
      if (parts.length < 2 || Math.abs(sum - goal) > Math.abs(goal) * 0.01 + 1) continue;
      // Income = expenses + surplus holds as well, but the surplus is the result.
      const results = parts.filter((term) => isResultLabel(rows[term.row]!.label)).length;
      if (isResultLabel(part.label) && (!isResultLabel(row.label) || results < parts.length)) break;
      if (!isStrong(context, k, parts)) continue;
      for (const term of parts) rows[term.row]!.parent = k;
      row.terms = parts;
      row.certain = true;
      end[k] = end[j]!;
      break;
    }
  }
}

/** Enough digits agree that chance is ruled out, for each row and each number of parts that could have agreed. */
function isStrong(context: ReportWork, k: number, terms: Term[]): boolean {
  const check = checkTerms(context, k, terms);
  if (check.weighty < 2 || check.holds < check.compared * 0.8) return false;
  return check.digits - Math.log10(terms.length * context.rows.length) >= STRONG_DIGITS;
}

/** `小計`, `合計`, `Total`: tries the rows above up to the last total, all rows, all subtotals, and the rows below. */
function linkTotalWord(context: ReportWork, k: number): void {
  const { rows } = context;
  const row = rows[k]!;
  // A row of figures without a label, or the last one, may be the sum of all above it; nothing but the figures can say so.
  const last = k === rows.length - 1 && !context.isList && !row.ratio;
  const bare = (row.labelCell < 0 || last) && !row.virtual && k > 1;
  if (!(row.total || row.whole || bare) || row.certain || !row.hasValues) return;
  if (bare && !row.total) {
    if (context.bareTries >= MAX_GRAND_TOTALS) return;
    context.bareTries += 1;
  }
  const tries = candidatesOfTotal(context, k);
  for (const [n, parts] of tries.entries()) {
    if (parts.length === 0 || (bare && !row.total && parts.length < 2)) continue;
    const terms: Term[] = parts.map((part) => ({ row: part, sign: 1 }));
    const check = checkTerms(context, k, terms);
    if (!matches(check)) continue;
    if (bare && !row.total && (check.weighty < 2 || check.digits - Math.log10((n + 1) * rows.length) < STRONG_DIGITS)) continue;
    row.terms = terms;
    row.certain = true;
    row.role = 'subtotal';
    row.parent = commonParent(rows, parts, row.parent, k);
    return;
  }
  if (!row.total) return;
  if (isRunningTotal(row.label)) {
    row.role = 'computed';
    return;
  }
  row.role = 'subtotal';
  row.terms = (tries[0] ?? []).map((part) => ({ row: part, sign: 1 }));
}

function candidatesOfTotal(context: ReportWork, k: number): number[][] {
  const { rows } = context;
  const isPart = (j: number) => rows[j]!.hasValues && !rows[j]!.total && !rows[j]!.ratio && rows[j]!.role === 'detail';
  const since: number[] = [];
  for (let j = k - 1; j >= 0 && since.length < MAX_SUM_ROWS && !rows[j]!.total; j -= 1)
    if (isPart(j) && rows[j]!.label !== '') since.push(j);
  since.reverse();
  const siblings = since.filter((j) => rows[j]!.parent === rows[k]!.parent);
  const sinceSet = new Set(since);
  const tops = since.filter((j) => !sinceSet.has(rows[j]!.parent));
  const below: number[] = [];
  for (let j = k + 1; j < rows.length && below.length < MAX_SUM_ROWS && !rows[j]!.total; j += 1) if (isPart(j)) below.push(j);
  const belowSet = new Set(below);
  const belowTops = below.filter((j) => !belowSet.has(rows[j]!.parent));
  const tries = [tops, siblings, since];
  if (!isSubtotalLabel(rows[k]!.label) && context.grandTries < MAX_GRAND_TOTALS) {
    context.grandTries += 1;
    const leaves: number[] = [];
    const subtotals: number[] = [];
    for (let j = 0; j < k; j += 1) {
      if (rows[j]!.role === 'subtotal') subtotals.push(j);
      else if (isPart(j) && !rows[j]!.certain) leaves.push(j);
    }
    tries.push(subtotals, leaves);
  }
  tries.push(
    belowTops,
    below.filter((j) => rows[j]!.parent === rows[k]!.parent),
    below,
  );
  return tries;
}

/** `Total revenue` under `Revenue:`, which has no figures of its own: it stands for the group beside its siblings. */
function closesGroup(rows: ReportRow[], k: number, parent: number): boolean {
  const group = rows[k]!.role === 'subtotal' && rows[k]!.certain ? rows[rows[k]!.parent] : undefined;
  return group !== undefined && group.parent === parent && !group.hasValues;
}

/** Finds results such as profits: the previous result plus or minus the rows since, or the difference of two of the last rows. */
function linkDifference(context: ReportWork, k: number, isParent: boolean): void {
  const { rows } = context;
  const row = rows[k]!;
  if (isParent || row.certain || !row.hasValues || row.total || row.role !== 'detail') return;
  const peers: number[] = [];
  for (let j = k - 1; j >= 0 && peers.length < MAX_DIFFERENCE_TERMS; j -= 1) {
    if (!rows[j]!.hasValues || rows[j]!.ratio) continue;
    if (rows[j]!.parent !== row.parent && !closesGroup(rows, j, row.parent)) continue;
    peers.push(j);
    if (rows[j]!.role === 'computed') break;
  }
  peers.reverse();
  const named = isProfitLabel(row.label);
  if (!named && (context.repeated.has(row.label) || (!row.bold && rows.length > MAX_UNNAMED_ROWS))) return;
  const needed = named ? RESULT_DIGITS : STRONG_DIGITS;
  let tries = 0;
  for (let from = peers.length - 2; from >= 0; from -= 1) {
    const parts = peers.slice(from);
    for (let signs = 0; signs < 1 << (parts.length - 1); signs += 1) {
      tries += 1;
      const terms: Term[] = parts.map((part, n) => ({ row: part, sign: n > 0 && (signs >> (n - 1)) & 1 ? -1 : 1 }));
      const check = checkTerms(context, k, terms);
      // By chance one column may fit; two do not, and a name such as 利益 says what the row is.
      const enough = check.weighty >= 2 || (named && check.weighty >= 1);
      if (!enough || check.holds < check.compared) continue;
      if (terms.every((term) => term.sign > 0) && !named && !row.bold) continue;
      // Any row of a table could have matched in any of these ways.
      if (check.digits - Math.log10(named ? tries : tries * rows.length) < needed) continue;
      // A balance may be what it was before with nothing added.
      if (!(named && parts.length === 2) && parts.some((part) => isSameRow(context, k, part))) continue;
      row.terms = terms;
      row.certain = true;
      row.role = 'computed';
      return;
    }
  }
}

/** The same rent on three rows: the third is the first plus the second less the second. Where a part is the whole, the others say nothing. */
function isSameRow({ table, rows }: ReportWork, k: number, other: number): boolean {
  const values = table.matrix[rows[other]!.at]!;
  return table.matrix[rows[k]!.at]!.every((value, c) => value === values[c]);
}
