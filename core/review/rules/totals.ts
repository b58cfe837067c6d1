import { isRateName, isTotalColumn, isTotalLabel } from '../../structuring/names/words.ts';
import type { Draft, Spot } from '../finding.ts';
import type { Reviewed } from '../region.ts';
import { isSlip } from '../slips.ts';
import { showNumber } from '../statistics.ts';
import { type FailedSum, findSlippedTotals, findSums, type Lines, type Names, type SlippedTotal, type SumRelation } from '../sums.ts';

/** Each line is compared with all sums of lines beside it, so longer blocks are left out. */
const most = { rows: 3_000, columns: 200 };

/** Totals that do not add up, down the rows and across the columns. */
export function findWrongTotals(reviewed: Reviewed): Draft[] {
  const { region, summaries, isTotal } = reviewed;
  const columns = region.columns.flatMap((_, k) => (isSummable(reviewed, k) ? [k] : []));
  if (columns.length === 0 || region.rowCount > most.rows || columns.length > most.columns) return [];
  const rates = new Set(columns.filter((k) => isRateName((region.columns[k]?.name ?? '').replaceAll('_', ' '))));
  const rows: Block = {
    lines: Array.from({ length: region.rowCount }, (_, row) => columns.map((k) => summaries[k]?.read[row] ?? null)),
    names: {
      isTotal: (row) => isTotal[row] === true,
      isRate: (_, at) => rates.has(columns[at] as number),
    },
    toSpot: (line, at) => ({ row: line, column: columns[at] as number }),
  };
  const turned: Block = {
    lines: columns.map((k) => summaries[k]?.read ?? []),
    names: {
      isTotal: (line) => isTotalName(region.columns[columns[line] as number]?.name ?? ''),
      isRate: (line) => rates.has(columns[line] as number),
    },
    toSpot: (line, at) => ({ row: at, column: columns[line] as number }),
  };
  return tellOnce([rows, turned].flatMap((block) => checkBlock(reviewed, block)));
}

/** One wrong number makes several sums fail. The first of them is told as an error, those with cells of it as warnings. */
function tellOnce(drafts: Draft[]): Draft[] {
  const [totals, all] = [new Set<string>(), new Set<string>()];
  return drafts.map((draft) => {
    if (draft.severity !== 'error') return draft;
    const [total, ...parts] = draft.spots.flatMap((spot) => ('row' in spot ? [`${spot.row} ${spot.column}`] : []));
    const isKnown = all.has(total as string) || parts.some((part) => totals.has(part));
    totals.add(total as string);
    for (const cell of [total as string, ...parts]) all.add(cell);
    return isKnown ? { ...draft, severity: 'warning' } : draft;
  });
}

/** Numbers by line, with what lines and places in them are called and where they are. */
interface Block {
  lines: Lines;
  names: Names;
  toSpot: ToSpot;
}

function checkBlock(reviewed: Reviewed, { lines, names, toSpot }: Block): Draft[] {
  const relations = findSums(lines, names);
  return [...describeAll(reviewed, relations, toSpot), ...describeSlips(reviewed, findSlippedTotals(lines, names, relations), toSpot)];
}

/** One of a hundred sheets may be told of a slip that is none. */
const rareChance = 0.01;
const unlikelyChance = 0.1;

function describeSlips(reviewed: Reviewed, slips: SlippedTotal[], toSpot: ToSpot): Draft[] {
  return slips
    .filter(({ chance }) => chance * slips.length <= unlikelyChance)
    .map(({ total, parts, fail, chance }) => ({
      ...draftTotal(reviewed, toSpot, total, parts, fail, ''),
      severity: chance * slips.length <= rareChance && !fail.isSlight ? 'error' : 'warning',
    }));
}

function isTotalName(name: string): boolean {
  return name.split('_').some((part) => isTotalColumn(part) || isTotalLabel(part));
}

/** Numbers that are written to be added; years and running numbers are not. */
function isSummable({ summaries, region }: Reviewed, k: number): boolean {
  const summary = summaries[k];
  if (!summary || summary.numbers < 2 || summary.numbers < (summary.filled - summary.numbers) * 2) return false;
  const numbers = summary.read.filter((value) => value !== null);
  const isYears = numbers.every((value) => Number.isInteger(value) && value >= 1800 && value <= 2100);
  const isCount = k === 0 && numbers.length === region.rowCount && numbers.every((value, row) => value === (numbers[0] as number) + row);
  // The same number on every row says something about the rows, such as their unit.
  const isConstant = numbers.length > 2 && numbers.every((value) => value === numbers[0]);
  return !isYears && !isCount && !isConstant;
}

type ToSpot = (line: number, at: number) => { row: number; column: number };

/** Where a relation fails in one place of many, that place is wrong; where it fails often, it may not be meant. */
const strayShare = 0.02;
/** A total that is off by more than this factor, where nothing else is added up, is another figure: a code, a price. */
const nearFactor = 2;

function describeAll(reviewed: Reviewed, relations: SumRelation[], toSpot: ToSpot): Draft[] {
  const adding = new Set(relations.flatMap(({ holds, digits }) => (digits > 0 ? holds : [])));
  const failing = new Map<number, number>();
  for (const { at } of relations.flatMap(({ fails }) => fails)) failing.set(at, (failing.get(at) ?? 0) + 1);
  return relations.flatMap((relation) => {
    const isMeant = (fail: FailedSum) => isMeantAsSum(fail, adding.has(fail.at), failing.get(fail.at) === 1);
    return describe(reviewed, { ...relation, fails: relation.fails.filter(isMeant) }, toSpot);
  });
}

/** Beside sums stand codes, prices, averages and rates, which nobody adds up. */
function isMeantAsSum({ stated, computed, isBetween }: FailedSum, isAdding: boolean, isAlone: boolean): boolean {
  return isAdding || isSlip(stated, computed) || (isAlone && !isBetween && isNear(stated, computed));
}

function isNear(stated: number, computed: number): boolean {
  const ratio = stated / computed;
  return ratio > 1 / nearFactor && ratio < nearFactor;
}

function describe(reviewed: Reviewed, { total, parts, holds, fails }: SumRelation, toSpot: ToSpot): Draft[] {
  const gross = fails.filter(({ isSlight }) => !isSlight);
  const isStray = gross.length <= Math.max(1, holds.length * strayShare);
  const rest = isStray ? '' : `; ${gross.length} of ${gross.length + holds.length} places differ`;
  const slight = fails.filter(({ isSlight }) => isSlight);
  const slips = gross.filter(({ stated, computed }) => isSlip(stated, computed));
  const told = isStray ? gross : slips.length > 0 ? slips : gross.slice(0, 1);
  return [...told, ...slight.slice(0, 1)].map((fail) => ({
    ...draftTotal(reviewed, toSpot, total, parts, fail, rest),
    severity: isStray && !fail.isSlight ? 'error' : 'warning',
  }));
}

function draftTotal({ region, labels }: Reviewed, toSpot: ToSpot, total: number, parts: number[], fail: FailedSum, rest: string) {
  const { at, stated, computed } = fail;
  const spot = toSpot(total, at);
  const spots: Spot[] = [spot, { column: spot.column, computed }, ...parts.map((part) => toSpot(part, at))];
  const names = [labels[spot.row], region.columns[spot.column]?.name].filter(Boolean).join(', ');
  return {
    message: `${names}: ${showNumber(stated)} is stated, the ${parts.length} parts add up to ${showNumber(computed)}${rest}.`,
    spots,
    suggestedFix: `Check the total and its parts; the difference is ${showNumber(stated - computed)}.`,
  };
}
