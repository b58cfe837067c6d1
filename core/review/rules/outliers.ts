import type { Draft } from '../finding.ts';
import type { Reviewed } from '../region.ts';
import { deviation, magnitude, median, showNumber } from '../statistics.ts';

const leastNumbers = 12;
/**
 * In robust standard deviations of the logarithm. Sizes of real things are spread like that; of normal values one in 10^9 lies
 * beyond six.
 */
const farAway = 6;
/** Two digits more or less than any neighbour: the unit or the decimal point. */
const digitsApart = 1.9;
const leastScale = 0.1;

/** Numbers whose size is far from that of all others in their column. */
export function findOutliers({ region, summaries, labels, isTotal }: Reviewed): Draft[] {
  return region.columns.flatMap((column, k): Draft[] => {
    const read = summaries[k]?.read ?? [];
    const rows = read.flatMap((value, row) => (value === null || value === 0 || isTotal[row] ? [] : [row]));
    if (summaries[k]?.kind !== 'number' || rows.length < leastNumbers) return [];
    const sizes = rows.map((row) => magnitude(read[row] as number));
    const centre = median(sizes);
    const scale = Math.max(leastScale, deviation(sizes, centre));
    const far = rows.filter((_, i) => Math.abs((sizes[i] as number) - centre) > Math.max(farAway * scale, digitsApart));
    if (far.length === 0 || far.length > Math.max(1, rows.length * 0.02)) return [];
    return far.map((row) => ({
      severity: 'warning' as const,
      message: `${[labels[row], column.name].filter(Boolean).join(', ')}: ${showNumber(read[row] as number)} is far from the usual size, about ${showNumber(Number((10 ** centre).toPrecision(2)))}.`,
      spots: [{ row, column: k }],
      suggestedFix: 'Check the unit, the decimal point and the sign.',
    }));
  });
}
