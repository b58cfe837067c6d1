import { type Draft, type Finding, type Severity, toFinding } from './finding.ts';
import { prepareRegion, type Region, type Reviewed } from './region.ts';
import { findBrokenPeriods } from './rules/brokenPeriods.ts';
import { findDatesOutOfRange } from './rules/datesOutOfRange.ts';
import { findDuplicateKeys } from './rules/duplicateKeys.ts';
import { findDuplicateRows } from './rules/duplicateRows.ts';
import { findMixedTypes } from './rules/mixedTypes.ts';
import { findNearLabels } from './rules/nearLabels.ts';
import { findOutliers } from './rules/outliers.ts';
import { findOverwrittenFormulas } from './rules/overwrittenFormulas.ts';
import { findShiftedColumns } from './rules/shiftedColumns.ts';
import { findSuspiciousBlanks } from './rules/suspiciousBlanks.ts';
import { findWrongTotals } from './rules/totals.ts';
import { findUnitChanges } from './rules/unitChanges.ts';

interface Rule {
  name: string;
  find(reviewed: Reviewed): Draft[];
  /** Also for sheets that were not understood, where titles and headers stand among the rows. */
  isForRaw?: true;
}

const rules: Rule[] = [
  { name: 'total-mismatch', find: findWrongTotals, isForRaw: true },
  { name: 'shifted-columns', find: findShiftedColumns },
  { name: 'duplicate-rows', find: findDuplicateRows, isForRaw: true },
  { name: 'duplicate-keys', find: findDuplicateKeys },
  { name: 'mixed-types', find: findMixedTypes },
  { name: 'outliers', find: findOutliers },
  { name: 'broken-periods', find: findBrokenPeriods },
  { name: 'suspicious-blanks', find: findSuspiciousBlanks },
  { name: 'overwritten-formulas', find: findOverwrittenFormulas },
  { name: 'unit-changes', find: findUnitChanges },
  { name: 'near-duplicate-labels', find: findNearLabels },
  { name: 'dates-out-of-range', find: findDatesOutOfRange },
];

export const ruleNames: readonly string[] = [...rules.map(({ name }) => name), 'stale-inputs'];

/** Findings of one rule about one region that are told; more of them have one cause. */
const mostOfARule = 20;

export function reviewRegion(region: Region): Finding[] {
  const reviewed = prepareRegion(region);
  return rules
    .filter(({ isForRaw }) => isForRaw || !region.isRaw)
    .flatMap(({ name, find }) =>
      sortFindings(find(reviewed))
        .slice(0, mostOfARule)
        .map((draft) => toFinding(region, name, draft)),
    );
}

const order: Record<Severity, number> = { error: 0, warning: 1, info: 2 };

/** Worst first. */
export function sortFindings<Sorted extends { severity: Severity }>(findings: Sorted[]): Sorted[] {
  return findings.toSorted((a, b) => order[a.severity] - order[b.severity]);
}
