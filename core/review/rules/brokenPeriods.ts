import { parsePeriod } from '../../period/period.ts';
import type { Draft, Spot } from '../finding.ts';
import { isDate, type Reviewed } from '../region.ts';

type Step = { name: string; months: number };
const steps: Step[] = [
  { name: 'month', months: 1 },
  { name: 'quarter', months: 3 },
  { name: 'year', months: 12 },
];
/** Fewer periods make no sequence. */
const leastPeriods = 5;
/** Most neighbours must be one step apart; then a longer step is a gap. */
const regularShare = 0.75;

/** Gaps in sequences of months, quarters and years, in columns of dates and in the names of columns. */
export function findBrokenPeriods({ region, summaries }: Reviewed): Draft[] {
  const drafts: Draft[] = [];
  region.columns.forEach((column, k) => {
    if (summaries[k]?.kind !== 'date') return;
    const spots = new Map<number, Spot>();
    column.values.forEach((value, row) => {
      if (!isDate(value)) return;
      const month = toMonth(value);
      if (!spots.has(month)) spots.set(month, { row, column: k });
    });
    // Days within months are events, not periods.
    const days = new Set(column.values.flatMap((value) => (isDate(value) ? [value.slice(8, 10)] : [])));
    if (days.size === 1) drafts.push(...describeGaps(column.name, spots));
  });
  const named = new Map<number, Spot>();
  region.columns.forEach(({ name }, column) => {
    const period = name
      .split(/[_\s]/)
      .map(parsePeriod)
      .find((each) => each?.start);
    const month = period?.start ? toMonth(period.start) : null;
    const row = month === null ? -1 : region.columns[column]?.values.findIndex((value) => value !== null);
    if (month !== null && row !== undefined && row >= 0 && !named.has(month)) named.set(month, { row, column });
  });
  return [...drafts, ...describeGaps('The columns', named)];
}

function toMonth(iso: string): number {
  return Number(iso.slice(0, 4)) * 12 + Number(iso.slice(5, 7)) - 1;
}

function describeGaps(what: string, spots: Map<number, Spot>): Draft[] {
  const months = [...spots.keys()].sort((a, b) => a - b);
  if (months.length < leastPeriods) return [];
  const gaps = months.slice(1).map((month, k) => month - (months[k] as number));
  const step = steps.find(({ months: size }) => gaps.filter((gap) => gap === size).length >= gaps.length * regularShare);
  if (!step || gaps.some((gap) => gap % step.months !== 0)) return [];
  return gaps.flatMap((gap, k): Draft[] => {
    if (gap === step.months) return [];
    const [before, after] = [months[k] as number, months[k + 1] as number];
    const missing = gap / step.months - 1;
    return [
      {
        severity: 'warning',
        message: `${what}: ${missing} ${step.name}${missing > 1 ? 's are' : ' is'} missing between ${showMonth(before)} and ${showMonth(after)}.`,
        spots: [spots.get(before) as Spot, spots.get(after) as Spot],
        suggestedFix: `Add the missing ${step.name}${missing > 1 ? 's' : ''}, or say why there is none.`,
      },
    ];
  });
}

function showMonth(month: number): string {
  return `${Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, '0')}`;
}
